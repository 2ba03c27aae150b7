# The order comes from a stack of its own, so that no graph is too deep. Operators share one function.
import operator

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "**": operator.pow}


class Value:
    __slots__ = ("data", "parents", "op", "name")

    def __init__(self, data, parents=(), op="", name=""):
        self.data, self.parents, self.op, self.name = float(data), tuple(parents), op, name

    def __add__(self, other):
        return combined("+", self, other)

    def __sub__(self, other):
        return combined("-", self, other)

    def __mul__(self, other):
        return combined("*", self, other)

    def __pow__(self, other):
        return combined("**", self, other)

    def __radd__(self, other):
        return combined("+", other, self)

    def __rsub__(self, other):
        return combined("-", other, self)

    def __rmul__(self, other):
        return combined("*", other, self)

    def __repr__(self):
        return "Value(%g)" % self.data


def combined(op, left, right):
    left, right = (side if isinstance(side, Value) else Value(side) for side in (left, right))
    return Value(OPERATIONS[op](left.data, right.data), (left, right), op)


def topological_order(output):
    order, done, stack = [], set(), [(output, False)]
    while stack:
        node, is_ready = stack.pop()
        if is_ready:
            order.append(node)
        elif id(node) not in done:
            done.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order


def expression(output):
    texts = {}
    for node in topological_order(output):
        if node.op:
            left, right = (texts[id(parent)] for parent in node.parents)
            texts[id(node)] = "(" + left + " " + node.op + " " + right + ")"
        else:
            texts[id(node)] = node.name if node.name else format(node.data, "g")
    return texts[id(output)]


def recompute(output):
    for node in topological_order(output):
        if node.op:
            node.data = OPERATIONS[node.op](*(parent.data for parent in node.parents))
    return output.data
