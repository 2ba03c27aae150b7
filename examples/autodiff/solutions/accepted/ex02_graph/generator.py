# A generator yields the nodes in order; recompute is recursive with a memory of finished nodes.
class Value:
    def __init__(self, data, parents=(), op="", name=""):
        self.data = float(data)
        self.parents = tuple(parents)
        self.op = op
        self.name = name

    def _with(self, other, op, function):
        other = other if isinstance(other, Value) else Value(other)
        return Value(function(self.data, other.data), [self, other], op)

    def __add__(self, other):
        return self._with(other, "+", lambda x, y: x + y)

    def __radd__(self, other):
        return Value(other) + self

    def __mul__(self, other):
        return self._with(other, "*", lambda x, y: x * y)

    def __rmul__(self, other):
        return Value(other) * self

    def __sub__(self, other):
        return self._with(other, "-", lambda x, y: x - y)

    def __rsub__(self, other):
        return Value(other) - self

    def __pow__(self, other):
        return self._with(other, "**", lambda x, y: x**y)

    def __repr__(self):
        return type(self).__name__ + "(" + f"{self.data:g}" + ")"


def walk(node, visited):
    if node in visited:
        return
    visited.add(node)
    for parent in reversed(node.parents):
        yield from walk(parent, visited)
    yield node


def topological_order(output):
    return [*walk(output, set())]


def expression(output):
    if output.op == "":
        return output.name or "%g" % output.data
    return "(%s %s %s)" % (expression(output.parents[0]), output.op, expression(output.parents[1]))


def recompute(output, done=None):
    done = set() if done is None else done
    if output.op and output not in done:
        left, right = (recompute(parent, done) for parent in output.parents)
        output.data = {"+": float.__add__, "-": float.__sub__, "*": float.__mul__, "**": float.__pow__}[output.op](left, right)
        done.add(output)
    return output.data
