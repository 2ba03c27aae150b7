# A value holds pairs of a parent and a slope; the gradients of one call are in a dict until the end.
import math


class Value:
    def __init__(self, data, *edges):
        self.data, self.grad, self.edges = float(data), 0.0, edges

    def __add__(self, other):
        other = lift(other)
        return Value(self.data + other.data, (self, 1), (other, 1))

    def __mul__(self, other):
        other = lift(other)
        return Value(self.data * other.data, (self, other.data), (other, self.data))

    def __truediv__(self, other):
        other = lift(other)
        quotient = self.data / other.data
        return Value(quotient, (self, 1 / other.data), (other, -quotient / other.data))

    def __pow__(self, n):
        return Value(math.pow(self.data, n), (self, n * math.pow(self.data, n - 1)))

    def exp(self):
        return Value(e := math.exp(self.data), (self, e))

    def tanh(self):
        e = math.exp(2 * self.data)
        return Value((e - 1) / (e + 1), (self, 4 * e / (e + 1) ** 2))

    def relu(self):
        return Value(self.data, (self, 1)) if self.data > 0 else Value(0, (self, 0))

    def backward(self):
        shares = {self: 1.0}
        for node in reversed(order_of(self, {})):
            total = shares[node]
            node.grad = total if node.edges else node.grad + total
            for parent, slope in node.edges:
                shares[parent] = shares.get(parent, 0.0) + total * slope

    def __neg__(self):
        return 0 - self

    def __sub__(self, other):
        other = lift(other)
        return Value(self.data - other.data, (self, 1), (other, -1))

    def __radd__(self, other):
        return lift(other) + self

    def __rsub__(self, other):
        return lift(other) - self

    def __rmul__(self, other):
        return lift(other) * self

    def __rtruediv__(self, other):
        return lift(other) / self


def lift(number):
    return Value(number) if isinstance(number, int | float) else number


def order_of(node, seen):
    if node not in seen:
        for parent, _ in node.edges:
            order_of(parent, seen)
        seen[node] = True
    return list(seen)
