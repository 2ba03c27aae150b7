from collections.abc import Sequence


class Value:
    """A number that knows how it was made. Operators take values and plain numbers."""

    def __init__(self, data: float, parents: Sequence["Value"] = (), op: str = "", name: str = "") -> None:
        self.data = float(data)
        self.parents = tuple(parents)
        self.op = op
        self.name = name

    def __add__(self, other: "Value | float") -> "Value":
        """Return the sum as a new value."""
        other = as_value(other)
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other: "Value | float") -> "Value":
        """Return the product as a new value."""
        other = as_value(other)
        return Value(self.data * other.data, (self, other), "*")

    def __sub__(self, other: "Value | float") -> "Value":
        """Return the difference as a new value, with the operation "-"."""
        other = as_value(other)
        return Value(self.data - other.data, (self, other), "-")

    def __rsub__(self, other: float) -> "Value":
        """Return a plain number minus this value."""
        return as_value(other) - self

    def __pow__(self, other: "Value | float") -> "Value":
        """Return this value to a power. The exponent is the second parent."""
        other = as_value(other)
        return Value(self.data**other.data, (self, other), "**")

    def __radd__(self, other: float) -> "Value":
        return self + other

    def __rmul__(self, other: float) -> "Value":
        return self * other

    def __repr__(self) -> str:
        """Return the number in the shortest form, like Value(6) or Value(0.25)."""
        return f"Value({self.data:g})"


def as_value(number: Value | float) -> Value:
    """Return a value as it is, and a plain number as a leaf."""
    return number if isinstance(number, Value) else Value(number)


def topological_order(output: Value) -> list[Value]:
    """Return every value that the output is made of, once, each after its parents. The output is last."""
    order: list[Value] = []
    visited: set[int] = set()

    def visit(node: Value) -> None:
        if node.data in visited:
            return
        visited.add(node.data)
        for parent in node.parents:
            visit(parent)
        order.append(node)

    visit(output)
    return order


def expression(output: Value) -> str:
    """Return the formula with brackets around each operation. A leaf is its name, or else its number in format g."""
    if not output.parents:
        return output.name or f"{output.data:g}"
    left, right = (expression(parent) for parent in output.parents)
    return f"({left} {output.op} {right})"


def recompute(output: Value) -> float:
    """Compute the data of every node again from its parents, after leaves have changed. Return that of the output."""
    for node in topological_order(output):
        if node.parents:
            left, right = (parent.data for parent in node.parents)
            results = {"+": left + right, "-": left - right, "*": left * right}
            node.data = left**right if node.op == "**" else results[node.op]
    return output.data
