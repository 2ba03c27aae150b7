# %% [markdown]
# # ex01: numeric derivatives
#
# A derivative says how fast a result grows when an input grows. You can measure it without any
# calculus. Move the input by a small step $h$, and see by how much the result moves.
#
# $$\text{forward} = \frac{f(x + h) - f(x)}{h}
# \qquad \text{central} = \frac{f(x + h) - f(x - h)}{2h}$$
#
# The *forward difference* looks to one side. Its error shrinks like $h$. The *central difference*
# looks to both sides, and its two errors of first order cancel. Its error shrinks like $h^2$
# (Press et al. 2007, "Numerical Recipes", section 5.7).
#
# | function | returns |
# |---|---|
# | `forward_difference` | one number |
# | `central_difference` | one number |
# | `gradient` | one number for each variable: the partial derivatives |
# | `errors_by_step` | one number for each step |
# | `best_step` | one of the steps |
# | `largest_error` | one number that compares two gradients |
#
# **Why not a tiny step.** A float has about 16 digits. If $h$ is tiny, $f(x + h)$ and $f(x)$ agree
# in nearly all of them. The difference keeps only the last few. So the error first shrinks with
# $h$, and then it grows again. For the central difference, the best step is near $10^{-5}$.
#
# **Several variables.** A gradient has one partial derivative for each variable. Each of them moves
# one variable and keeps all others where they are.
#
# In this course your programs will compute exact derivatives. Numeric derivatives are slow, because
# each variable needs two calls. But they are hard to get wrong, so you will test the others with
# them. That is a *gradient check*.
#
# **Python you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`list(items)`] | makes a new list with the same items, also of a tuple |
# | [`abs(x)`] | the size of a number, without its sign |
# | [`max(a, b)`] | the largest of several numbers, or of a list of them |
# | [`zip(a, b)`] | pairs of items at the same place of two lists |
#
# [`list(items)`]: https://docs.python.org/3/library/functions.html#func-list
# [`abs(x)`]: https://docs.python.org/3/library/functions.html#abs
# [`max(a, b)`]: https://docs.python.org/3/library/functions.html#max
# [`zip(a, b)`]: https://docs.python.org/3/library/functions.html#zip

# %% [markdown]
# ## A cube, by hand
#
# Take $f(x) = x^3$ at $x = 2$. The exact derivative is $3x^2 = 12$.
#
# ```text
#   h       f(2 - h)    f(2)    f(2 + h)     forward     central    error of central
#   1.0      1.000       8       27.000      19.00       13.00           1.00
#   0.5      3.375       8       15.625      15.25       12.25           0.25
#   0.1      6.859       8        9.261      12.61       12.01           0.01
# ```
#
# With $h = 0.5$, forward is (15.625 − 8) / 0.5 and central is (15.625 − 3.375) / 1. The step that
# is five times smaller makes the central error 25 times smaller.
#
# Two variables: $f(x, y) = x^2 y + y$ at $(3, 2)$. The gradient is $(2xy, x^2 + 1) = (12, 10)$.
#
# ```text
#   h = 0.5     x moves: (f(3.5, 2) - f(2.5, 2)) / 1 = (26.5 - 14.5) / 1 = 12
#               y moves: (f(3, 2.5) - f(3, 1.5)) / 1 = (25 - 15) / 1     = 10
# ```
#
# To compare two gradients, `largest_error` divides each difference by the larger number, but never
# by less than 1. For (12, 10) and (12, 10.5) the error is 0.5 / 10.5 = 0.0476.

# %%
from collections.abc import Callable, Sequence


# %%
def forward_difference(f: Callable[[float], float], x: float, h: float = 1e-6) -> float:
    """Return the slope of f between x and x + h. A step h of 0 or less is a ValueError that names h."""
    # TODO ex01: refuse a step that is not positive, then divide the growth of f by the step.
    raise NotImplementedError("ex01: forward_difference")


def central_difference(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """Return the slope of f between x - h and x + h."""
    # TODO ex01: how far apart are the two points?
    raise NotImplementedError("ex01: central_difference")


# %% [markdown]
# A gradient needs one central difference for each variable. The point belongs to the caller, so
# move a copy of it.


# %%
def gradient(f: Callable[[list[float]], float], point: Sequence[float], h: float = 1e-5) -> list[float]:
    """Return the partial derivatives of f at a point, by central differences with step h.

    f takes a list of numbers. The point may be a list or a tuple, and is not modified.
    """
    # TODO ex01: for each variable, move only that one to both sides.
    raise NotImplementedError("ex01: gradient")


# %% [markdown]
# Where the exact slope is known, you can measure which step is best.


# %%
def errors_by_step(f: Callable[[float], float], slope: float, x: float, steps: Sequence[float]) -> list[float]:
    """Return, for each step, how far the central difference is from the exact slope: never negative."""
    # TODO ex01: one distance for each step, in the order of the steps.
    raise NotImplementedError("ex01: errors_by_step")


def best_step(f: Callable[[float], float], slope: float, x: float, steps: Sequence[float]) -> float:
    """Return the step with the smallest error of the central difference. All errors are different."""
    # TODO ex01: find the smallest error, and return its step.
    raise NotImplementedError("ex01: best_step")


def largest_error(ours: Sequence[float], numeric: Sequence[float]) -> float:
    """Return the largest |a - b| / max(1, |a|, |b|) of two gradients: relative for large numbers, absolute for small."""
    # TODO ex01: compare number by number, and keep the largest error.
    raise NotImplementedError("ex01: largest_error")


# %% [markdown]
# ## Try
#
# Print `errors_by_step(math.exp, math.exp(1), 1, [10.0**-n for n in range(1, 16)])`. At which step
# does the error stop shrinking? Do the same for the forward difference.
