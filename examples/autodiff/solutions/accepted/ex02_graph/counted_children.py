# Kahn's algorithm: a node leaves the graph when no other node needs it any more. The list is then reversed.
from dataclasses import dataclass, field


@dataclass(eq=False, repr=False)
class Value:
    data: float
    parents: tuple = ()
    op: str = ""
    name: str = ""
    extra: dict = field(default_factory=dict)

    def __post_init__(self):
        self.data = float(self.data)

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, (self, other), "*")

    def __sub__(self, other):
        other = as_value(other)
        return Value(self.data - other.data, (self, other), "-")

    def __pow__(self, other):
        other = as_value(other)
        return Value(pow(self.data, other.data), (self, other), "**")

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return as_value(other).__sub__(self)

    def __repr__(self):
        return f"Value({self.data:g})"


def as_value(number):
    return number if isinstance(number, Value) else Value(number)


def topological_order(output):
    needed, found = {output: 0}, [output]
    for node in found:
        for parent in node.parents:
            if parent not in needed:
                needed[parent] = 0
                found.append(parent)
            needed[parent] += 1
    order, free = [], [output]
    while free:
        node = free.pop()
        order.append(node)
        for parent in node.parents:
            needed[parent] -= 1
            if needed[parent] == 0:
                free.append(parent)
    order.reverse()
    return order


def expression(output):
    if output.parents == ():
        return output.name if output.name != "" else f"{output.data:g}"
    return f" {output.op} ".join(map(expression, output.parents)).join("()")


def recompute(output):
    inner = (node for node in topological_order(output) if node.op)
    for node in inner:
        left, right = node.parents
        match node.op:
            case "+":
                node.data = left.data + right.data
            case "-":
                node.data = left.data - right.data
            case "*":
                node.data = left.data * right.data
            case _:
                node.data = left.data**right.data
    return output.data
