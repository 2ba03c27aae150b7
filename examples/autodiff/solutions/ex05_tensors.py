# %% [markdown]
# # ex05: gradients of tensors
#
# A network of single values makes one object for each product. NumPy multiplies whole matrices at
# once. A `Tensor` is a `Value` whose `data` and `grad` are arrays. Everything of ex03 stays: the
# graph, the order, the sum of shares. Only the shares are arrays now.
#
# Let $\bar{Y}$ be the gradient of a result, an array of its shape. The share of each operand is:
#
# | operation | share of `a` | share of `b` |
# |---|---|---|
# | `a + b` | $\bar{Y}$ | $\bar{Y}$ |
# | `a * b` | $\bar{Y} \cdot b$ | $\bar{Y} \cdot a$ |
# | `a @ b` | $\bar{Y} b^\top$ | $a^\top \bar{Y}$ |
# | `a.sum(axis)` | $\bar{Y}$, spread over the summed axis | |
# | `a.exp()`, `a.log()` | $\bar{Y} \cdot \exp(a)$, $\bar{Y} / a$ | |
# | `a.relu()` | $\bar{Y}$ where $a > 0$, else 0 | |
#
# (Giles 2008, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic
# Differentiation".)
#
# **Broadcasting.** A bias of shape `(F,)` is added to every row of `(B, F)`. NumPy stretches it.
# Each of its numbers is used B times, so its gradient is the sum of B shares. In general: sum over
# every axis that broadcasting added or stretched. Then the gradient has the shape of the operand.
#
# **NumPy you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.sum(axis, keepdims)`] | sums along an axis, or along several of them: `axis=(0, 2)` |
# | [`np.expand_dims(x, axis)`] | adds an axis of size 1 |
# | [`np.broadcast_to(x, shape)`] | stretches an array to a shape; the result cannot be written to |
# | [`x.T`] | the transpose of a matrix |
#
# [`x.sum(axis, keepdims)`]: https://numpy.org/doc/stable/reference/generated/numpy.sum.html
# [`np.expand_dims(x, axis)`]: https://numpy.org/doc/stable/reference/generated/numpy.expand_dims.html
# [`np.broadcast_to(x, shape)`]: https://numpy.org/doc/stable/reference/generated/numpy.broadcast_to.html
# [`x.T`]: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.T.html

# %% [markdown]
# ## Two products, by hand
#
# Elementwise, with broadcasting. The gradient of the result is 1 everywhere:
#
# ```text
#   x            b             y = x * b        gradient of x      gradient of b
#   [1 2]        [10 20]       [10 40]          [10 20]            [1 + 3   2 + 4] = [4 6]
#   [3 4]                      [30 80]          [10 20]
# ```
#
# A matrix product. The gradient of the result is G:
#
# ```text
#   x            w        y = x @ w       G         x.T @ G = gradient of w     G @ w.T = gradient of x
#   [1 2]        [1]         [5]         [1]           [1·1 + 3·3] = [10]               [1 2]
#   [3 4]        [2]        [11]         [3]           [2·1 + 4·3] = [14]               [3 6]
# ```
#
# The shapes leave no choice. A gradient has the shape of its tensor, and only one order of `G` and
# `w.T` gives it.

# %%
from collections.abc import Callable, Sequence

import numpy as np
from numpy import ndarray

# %% [markdown]
# First, undo broadcasting.


# %%
def unbroadcast(gradient: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Return the gradient of an operand of that shape, from the gradient of what it was stretched to."""
    # TODO ex05: sum the axes in front that the shape lacks, then those where the shape has a 1.
    ### BEGIN SOLUTION
    added = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(added)))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1)
    return gradient.sum(axis=stretched, keepdims=True)
    ### END SOLUTION


# %% [markdown]
# A tensor holds one function for each parent. It takes the gradient of the tensor, and returns the
# share of the parent.


# %%
class Tensor:
    """An array with a gradient. It knows its parents, and the share of each parent in its gradient."""

    __array_ufunc__ = None  # so that NumPy leaves `array @ tensor` to the tensor

    def __init__(
        self,
        data: "ndarray | Sequence[float] | float",
        parents: Sequence["Tensor"] = (),
        shares: Sequence[Callable[[ndarray], ndarray]] = (),
    ) -> None:
        self.data = np.array(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents = tuple(parents)
        self.shares = tuple(shares)

    def __add__(self, other: "Tensor | ndarray | float") -> "Tensor":
        """Return the sum. This method is complete, but for what `unbroadcast` does."""
        other = as_tensor(other)
        shares = (lambda g: unbroadcast(g, self.data.shape), lambda g: unbroadcast(g, other.data.shape))
        return Tensor(self.data + other.data, (self, other), shares)

    def __mul__(self, other: "Tensor | ndarray | float") -> "Tensor":
        """Return the product, element by element. Shapes may differ if they broadcast."""
        # TODO ex05: as for the sum, with the shares of the table.
        ### BEGIN SOLUTION
        other = as_tensor(other)
        shares = (
            lambda g: unbroadcast(g * other.data, self.data.shape),
            lambda g: unbroadcast(g * self.data, other.data.shape),
        )
        return Tensor(self.data * other.data, (self, other), shares)
        ### END SOLUTION

    def __matmul__(self, other: "Tensor | ndarray") -> "Tensor":
        """Return the matrix product (N, M) of this (N, K) and other (K, M)."""
        # TODO ex05: each share is a matrix product with a transpose.
        ### BEGIN SOLUTION
        other = as_tensor(other)
        shares = (lambda g: g @ other.data.T, lambda g: self.data.T @ g)
        return Tensor(self.data @ other.data, (self, other), shares)
        ### END SOLUTION

    def sum(self, axis: int | None = None, keepdims: bool = False) -> "Tensor":
        """Return the sum along one axis, or of all numbers. With keepdims, the axis stays, with size 1."""
        # TODO ex05: give the gradient its axis back, then stretch it.
        ### BEGIN SOLUTION
        def share(g: ndarray) -> ndarray:
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return np.broadcast_to(g, self.data.shape)

        return Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,), (share,))
        ### END SOLUTION

    def exp(self) -> "Tensor":
        """Return e to the power of every number."""
        # TODO ex05: as in ex03.
        ### BEGIN SOLUTION
        result = np.exp(self.data)
        return Tensor(result, (self,), (lambda g: g * result,))
        ### END SOLUTION

    def log(self) -> "Tensor":
        """Return the natural logarithm of every number."""
        # TODO ex05: what is the derivative of the logarithm?
        ### BEGIN SOLUTION
        return Tensor(np.log(self.data), (self,), (lambda g: g / self.data,))
        ### END SOLUTION

    def relu(self) -> "Tensor":
        """Return every number if it is positive, else 0."""
        # TODO ex05: as in ex03, for all numbers at once.
        ### BEGIN SOLUTION
        return Tensor(np.maximum(self.data, 0.0), (self,), (lambda g: g * (self.data > 0),))
        ### END SOLUTION

    def backward(self, gradient: ndarray | None = None) -> None:
        """Add to the `grad` of every leaf its gradient, if the gradient of this tensor is as given.

        Without a gradient it is 1, and this tensor must have one number. Otherwise raise a ValueError that names the
        shape. Inner tensors get the gradient of this call alone.
        """
        # TODO ex05: refuse several numbers without a gradient. Then walk as in ex03.
        ### BEGIN SOLUTION
        if gradient is None and self.data.size != 1:
            raise ValueError(f"the shape is {self.data.shape}, so backward needs a gradient of this shape")
        order = topological_order(self)
        for node in order:
            if node.parents:
                node.grad = np.zeros_like(node.data)
        self.grad = self.grad + (np.ones_like(self.data) if gradient is None else gradient)
        for node in reversed(order):
            for parent, share in zip(node.parents, node.shares, strict=True):
                parent.grad = parent.grad + share(node.grad)
        ### END SOLUTION

    def __neg__(self) -> "Tensor":
        return self * -1.0

    def __sub__(self, other: "Tensor | ndarray | float") -> "Tensor":
        return self + -as_tensor(other)

    def __truediv__(self, number: float) -> "Tensor":
        return self * (1.0 / number)

    def __radd__(self, other: ndarray | float) -> "Tensor":
        return as_tensor(other) + self

    def __rsub__(self, other: ndarray | float) -> "Tensor":
        return as_tensor(other) - self

    def __rmul__(self, other: ndarray | float) -> "Tensor":
        return as_tensor(other) * self

    def __rmatmul__(self, other: ndarray) -> "Tensor":
        return as_tensor(other) @ self


def as_tensor(data: Tensor | ndarray | float) -> Tensor:
    """Return a tensor as it is, and anything else as a leaf."""
    return data if isinstance(data, Tensor) else Tensor(data)


def topological_order(output: Tensor) -> list[Tensor]:
    """Return every tensor that the output is made of, once, each after its parents."""
    # TODO ex05: as in ex02 and ex03.
    ### BEGIN SOLUTION
    order: list[Tensor] = []
    visited: set[Tensor] = set()

    def visit(node: Tensor) -> None:
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(output)
    return order
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Multiply two random matrices of 40 by 40, once with `Tensor` and once with lists of `Value` from
# ex03. How long does each take with its backward pass?
