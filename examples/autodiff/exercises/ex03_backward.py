# %% [markdown]
# # ex03: gradients by the chain rule
#
# In ex02 a value remembers its parents. Now it also remembers a *slope* for each parent: how fast
# it grows when this parent grows. Slopes are local. They need only the numbers of one operation:
#
# | operation | slope of the first parent | slope of the second parent |
# |---|---|---|
# | `a + b` | 1 | 1 |
# | `a * b` | `b` | `a` |
# | `a / b` | `1 / b` | `-a / b²` |
# | `a ** n` | `n · a ** (n - 1)` | the exponent is a plain number |
# | `exp(a)` | `exp(a)` | |
# | `tanh(a)` | `1 - tanh(a)²` | |
# | `relu(a)` | 1 if `a > 0`, else 0 | |
#
# The chain rule joins the slopes. Let $L$ be the output, and write $\bar{v}$ for $\partial L /
# \partial v$, the *gradient* of a value $v$. Each value $w$ with $v$ as a parent adds its share:
#
# $$\bar{L} = 1, \qquad \bar{v} = \sum_{w\,:\,v \in \mathrm{parents}(w)} \bar{w} \cdot
# \frac{\partial w}{\partial v}$$
#
# This is *reverse mode*, or backpropagation (Griewank and Walther 2008, "Evaluating Derivatives",
# section 3.2). One walk from the output to the leaves gives all gradients at once. The numeric
# gradient of ex01 needs two calls for each variable.
#
# **The order matters.** The gradient of a value is complete when all values made of it have added
# their shares. So walk in reverse topological order, from the output to the leaves.
#
# **The sum matters.** A value that is used twice gets two shares. If the second share replaces the
# first one, the gradient is wrong, and only for such values. So always add: `+=`.
#
# **Two calls.** The gradient of a *leaf* stays after a call, and the next call adds to it. So
# several outputs can share their leaves. The training loop clears it when it wants to (ex04). The
# gradient of an *inner* value belongs to one call, so each call starts it at 0.
#
# **Python you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`math.exp(x)`] | e to the power of a float; `math.tanh` is called in the same way |
# | [`max(a, b)`] | the larger of two numbers |
# | [`reversed(items)`] | the items of a list, from the last to the first |
# | [`zip(a, b)`] | pairs of items at the same place of two lists |
#
# [`math.exp(x)`]: https://docs.python.org/3/library/math.html#math.exp
# [`max(a, b)`]: https://docs.python.org/3/library/functions.html#max
# [`reversed(items)`]: https://docs.python.org/3/library/functions.html#reversed
# [`zip(a, b)`]: https://docs.python.org/3/library/functions.html#zip

# %% [markdown]
# ## Forward and back, by hand
#
# Take $L = a b + a$ with $a = 2$ and $b = -3$. Forward goes down the table, and back goes up.
#
# ```text
#   value            data     slopes              gradient
#   a                  2                          from c: 1 · -3 = -3, from L: 1 · 1 = 1.   Sum: -2
#   b                 -3                          from c: 1 · 2 = 2
#   c = a * b         -6      a: -3,   b: 2       from L: 1 · 1 = 1
#   L = c + a         -4      c: 1,    a: 1       1
# ```
#
# Indeed, L = a(b + 1). Its derivative by a is b + 1 = −2, and its derivative by b is a = 2.
#
# With tanh(0.5) = 0.4621, the slope is 1 − 0.4621² = 0.7864. It uses the result, not the input.

# %%
import math
from collections.abc import Sequence


# %%
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
        # TODO ex03: the product, its parents, and a slope for each of them.
        raise NotImplementedError("ex03: Value.__mul__")

    def __truediv__(self, other: "Value | float") -> "Value":
        """Return the quotient."""
        # TODO ex03: look up both slopes in the table.
        raise NotImplementedError("ex03: Value.__truediv__")

    def __pow__(self, exponent: float) -> "Value":
        """Return this value to a constant power. The exponent is a plain number."""
        # TODO ex03: there is one parent, so one slope.
        raise NotImplementedError("ex03: Value.__pow__")

    def exp(self) -> "Value":
        """Return e to the power of this value."""
        # TODO ex03: the slope of exp is exp itself.
        raise NotImplementedError("ex03: Value.exp")

    def tanh(self) -> "Value":
        """Return the hyperbolic tangent."""
        # TODO ex03: the slope needs the result.
        raise NotImplementedError("ex03: Value.tanh")

    def relu(self) -> "Value":
        """Return this value if it is positive, else 0. At 0 the slope is 0."""
        # TODO ex03: both the result and the slope depend on the sign.
        raise NotImplementedError("ex03: Value.relu")

    def backward(self) -> None:
        """Add to the `grad` of every leaf the derivative of this value by that leaf.

        Inner values get the gradient of this call alone. The gradient of this value itself is 1.
        """
        # TODO ex03: clear the inner gradients, start with 1, and walk from here to the leaves.
        raise NotImplementedError("ex03: Value.backward")

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


# %% [markdown]
# `backward` needs an order. You may copy your function from ex02, or import it. This file has its
# own, so that a mistake there does no harm here.


# %%
def topological_order(output: Value) -> list[Value]:
    """Return every value that the output is made of, once, each after its parents."""
    # TODO ex03: as in ex02.
    raise NotImplementedError("ex03: topological_order")


# %% [markdown]
# ## Try
#
# Do a gradient check. Write a function of two numbers with `tanh` and a division. Compare your
# gradients with those of `gradient` from ex01, by `largest_error`. It should be below 1e-8.
