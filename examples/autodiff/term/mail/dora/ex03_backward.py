import math
from collections.abc import Sequence


class Value:
    """A number with a gradient. It knows its parents, and how fast it grows with each of them."""

    def __init__(self, data: float, parents: Sequence["Value"] = (), slopes: Sequence[float] = ()) -> None:
        self.data = float(data)
        self.grad = 0.0
        self.parents = tuple(parents)
        self.slopes = tuple(slopes)

    def __add__(self, other: "Value | float") -> "Value":
        """Return the sum. This method is complete: it shows how the others look."""
        other = as_value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value | float") -> "Value":
        """Return the product."""
        other = as_value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __truediv__(self, other: "Value | float") -> "Value":
        """Return the quotient."""
        other = as_value(other)
        slopes = (1 / other.data, -self.data / other.data**2)
        return Value(self.data / other.data, (self, other), slopes)

    def __pow__(self, exponent: float) -> "Value":
        """Return this value to a constant power. The exponent is a plain number."""
        return Value(self.data**exponent, (self,), (exponent * self.data ** (exponent - 1),))

    def exp(self) -> "Value":
        """Return e to the power of this value."""
        result = math.exp(self.data)
        return Value(result, (self,), (result,))

    def tanh(self) -> "Value":
        """Return the hyperbolic tangent."""
        result = math.tanh(self.data)
        return Value(result, (self,), (1 - result**2,))

    def relu(self) -> "Value":
        """Return this value if it is positive, else 0. At 0 the slope is 0."""
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))

    def backward(self) -> None:
        """Add to the `grad` of every leaf the derivative of this value by that leaf.

        Inner values get the gradient of this call alone. The gradient of this value itself is 1.
        """
        order = topological_order(self)
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad += 1.0
        for node in reversed(order):
            for parent, slope in zip(node.parents, node.slopes, strict=True):
                parent.grad += node.grad * slope

    def __neg__(self) -> "Value":
        return self * -1.0

    def __sub__(self, other: "Value | float") -> "Value":
        return self + -as_value(other)

    def __radd__(self, other: float) -> "Value":
        return as_value(other) + self

    def __rsub__(self, other: float) -> "Value":
        return as_value(other) - self

    def __rmul__(self, other: float) -> "Value":
        return as_value(other) * self

    def __rtruediv__(self, other: float) -> "Value":
        return as_value(other) / self

    def __repr__(self) -> str:
        return f"Value({self.data:g}, grad {self.grad:g})"


def as_value(number: Value | float) -> Value:
    """Return a value as it is, and a plain number as a leaf."""
    return number if isinstance(number, Value) else Value(number)


def topological_order(output: Value) -> list[Value]:
    """Return every value that the output is made of, once, each after its parents."""
    order: list[Value] = []
    visited: set[Value] = set()

    def visit(node: Value) -> None:
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(output)
    return order
