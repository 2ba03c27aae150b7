# Each operation leaves a function that passes its gradient on, as in micrograd. The walk uses a stack.
import math


class Value:
    def __init__(self, data, children=()):
        self.data = float(data)
        self.grad = 0.0
        self.children = list(children)
        self.pass_on = lambda: None

    def __add__(self, other):
        other = wrap(other)
        out = Value(self.data + other.data, (self, other))

        def pass_on():
            self.grad += out.grad
            other.grad += out.grad

        out.pass_on = pass_on
        return out

    def __mul__(self, other):
        other = wrap(other)
        out = Value(self.data * other.data, (self, other))

        def pass_on():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.pass_on = pass_on
        return out

    def __pow__(self, n):
        out = Value(self.data**n, (self,))

        def pass_on():
            self.grad += n * self.data ** (n - 1) * out.grad

        out.pass_on = pass_on
        return out

    def __truediv__(self, other):
        return self * wrap(other) ** -1

    def exp(self):
        out = Value(math.exp(self.data), (self,))

        def pass_on():
            self.grad += out.data * out.grad

        out.pass_on = pass_on
        return out

    def tanh(self):
        out = Value(math.tanh(self.data), (self,))

        def pass_on():
            self.grad += (1 - out.data * out.data) * out.grad

        out.pass_on = pass_on
        return out

    def relu(self):
        out = Value(self.data if self.data > 0 else 0.0, (self,))

        def pass_on():
            self.grad += (out.data > 0) * out.grad

        out.pass_on = pass_on
        return out

    def backward(self):
        order, seen, stack = [], set(), [(self, iter(self.children))]
        seen.add(id(self))
        while stack:
            node, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                order.append(node)
                stack.pop()
            elif id(child) not in seen:
                seen.add(id(child))
                stack.append((child, iter(child.children)))
        for node in order:
            if node.children:
                node.grad = 0.0
        self.grad = self.grad + 1
        while order:
            order.pop().pass_on()

    def __neg__(self):
        return -1 * self

    def __sub__(self, other):
        return self + (-wrap(other))

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return wrap(other) - self

    def __rmul__(self, other):
        return self * other

    def __rtruediv__(self, other):
        return wrap(other) / self


def wrap(x):
    return x if isinstance(x, Value) else Value(x)
