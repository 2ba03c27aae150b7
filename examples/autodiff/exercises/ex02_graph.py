# %% [markdown]
# # ex02: the graph of an expression
#
# To differentiate a formula exactly, a program must know the formula. Python computes `a * b + 2`
# and keeps only the result. A `Value` also keeps *how* it was made: the operation and its operands.
# The operands are its *parents*. All values together form a graph (Wengert 1964, "A simple
# automatic derivative evaluation program").
#
# | attribute | meaning |
# |---|---|
# | `data` | the number, a float |
# | `parents` | the operands, in the order of the formula; `()` for a leaf |
# | `op` | `"+"`, `"-"`, `"*"` or `"**"`; `""` for a leaf |
# | `name` | a name for a leaf, such as `"a"`; `""` without one |
#
# A *leaf* is a value that nobody computed: an input or a constant. In `a + 2`, the 2 becomes a leaf
# as well.
#
# **Python you need.** Python calls a method for each operator. Each link is its documentation.
#
# | method | is called for |
# |---|---|
# | [`__add__(self, other)`] | `self + other`; also `__sub__`, `__mul__`, `__pow__` |
# | [`__radd__(self, other)`] | `2 + self`; also `__rsub__`, `__rmul__` |
# | [`__repr__(self)`] | what Python prints for an object |
#
# [`__add__(self, other)`]: https://docs.python.org/3/reference/datamodel.html#object.__add__
# [`__radd__(self, other)`]: https://docs.python.org/3/reference/datamodel.html#object.__radd__
# [`__repr__(self)`]: https://docs.python.org/3/reference/datamodel.html#object.__repr__
#
# **An order.** Many programs walk through the graph: to compute it again, to print it, and later to
# differentiate it. They need an order in which every value comes after its parents. This is a
# *topological order*. It ends with the output. A value that is used twice still appears once.
#
# Two values may have the same number and still be different nodes. So compare nodes with `is`, or
# by `id(node)`, and never by their numbers.

# %% [markdown]
# ## A graph of five values
#
# ```text
#   a = 2     b = -3     c = a * b = -6     d = c + a = -4
#
#   a ---+------------------+
#        |                  |
#        +--> c = a * b --> d = c + a
#        |
#   b ---+
# ```
#
# `a` is used twice: `c` and `d` both have it as a parent. A topological order of `d` is a, b, c, d.
# Another one is b, a, c, d. The list a, c, b, d is none, because `b` must come before `c`.
#
# ```text
#   expression(d)      ((a * b) + a)
#   repr(d)            Value(-4)
#
#   a.data = 5, then recompute(d):   c = 5 * -3 = -15,   d = -15 + 5 = -10
# ```

# %%
from collections.abc import Sequence


# %%
class Value:
    """A number that knows how it was made. Operators take values and plain numbers."""

    def __init__(self, data: float, parents: Sequence["Value"] = (), op: str = "", name: str = "") -> None:
        self.data = float(data)
        self.parents = tuple(parents)
        self.op = op
        self.name = name

    def __add__(self, other: "Value | float") -> "Value":
        """Return the sum as a new value."""
        # TODO ex02: make a value of the sum that knows both parents and its operation.
        raise NotImplementedError("ex02: Value.__add__")

    def __mul__(self, other: "Value | float") -> "Value":
        """Return the product as a new value."""
        # TODO ex02: the same for the product.
        raise NotImplementedError("ex02: Value.__mul__")

    def __sub__(self, other: "Value | float") -> "Value":
        """Return the difference as a new value, with the operation "-"."""
        # TODO ex02: the same for the difference. Which parent comes first?
        raise NotImplementedError("ex02: Value.__sub__")

    def __rsub__(self, other: float) -> "Value":
        """Return a plain number minus this value."""
        # TODO ex02: Python calls this for 1 - a. Which of the two is on the left?
        raise NotImplementedError("ex02: Value.__rsub__")

    def __pow__(self, other: "Value | float") -> "Value":
        """Return this value to a power. The exponent is the second parent."""
        # TODO ex02: the same for the power.
        raise NotImplementedError("ex02: Value.__pow__")

    def __radd__(self, other: float) -> "Value":
        return self + other

    def __rmul__(self, other: float) -> "Value":
        return self * other

    def __repr__(self) -> str:
        """Return the number in the shortest form, like Value(6) or Value(0.25)."""
        # TODO ex02: an f-string with the format g writes 6.0 as 6.
        raise NotImplementedError("ex02: Value.__repr__")


def as_value(number: Value | float) -> Value:
    """Return a value as it is, and a plain number as a leaf."""
    return number if isinstance(number, Value) else Value(number)


# %% [markdown]
# The order is the heart of this exercise. A function that visits the parents of a node before the
# node itself makes one. Remember which nodes you have visited.


# %%
def topological_order(output: Value) -> list[Value]:
    """Return every value that the output is made of, once, each after its parents. The output is last."""
    # TODO ex02: visit the parents first, then the node, and no node twice.
    raise NotImplementedError("ex02: topological_order")


def expression(output: Value) -> str:
    """Return the formula with brackets around each operation. A leaf is its name, or else its number in format g."""
    # TODO ex02: the text of a node is made of the texts of its parents.
    raise NotImplementedError("ex02: expression")


def recompute(output: Value) -> float:
    """Compute the data of every node again from its parents, after leaves have changed. Return that of the output."""
    # TODO ex02: walk in topological order, and let the op of a node decide what to compute.
    raise NotImplementedError("ex02: recompute")


# %% [markdown]
# ## Try
#
# Let `x = Value(1)` and repeat `x = x + x` 16 times. How many nodes does the graph have? How many
# characters does `expression(x)` have, and why?
