from collections.abc import Callable, Sequence

import numpy as np
from numpy import ndarray

def unbroadcast(gradient: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Return the gradient of an operand of that shape, from the gradient of what it was stretched to."""
    added = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(added)))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1)
    return gradient.sum(axis=stretched, keepdims=True)


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
        other = as_tensor(other)
        shares = (
            lambda g: unbroadcast(g * other.data, self.data.shape),
            lambda g: unbroadcast(g * self.data, other.data.shape),
        )
        return Tensor(self.data * other.data, (self, other), shares)

    def __matmul__(self, other: "Tensor | ndarray") -> "Tensor":
        """Return the matrix product (N, M) of this (N, K) and other (K, M)."""
        other = as_tensor(other)
        shares = (lambda g: g @ other.data.T, lambda g: self.data.T @ g)
        return Tensor(self.data @ other.data, (self, other), shares)

    def sum(self, axis: int | None = None, keepdims: bool = False) -> "Tensor":
        """Return the sum along one axis, or of all numbers. With keepdims, the axis stays, with size 1."""
        def share(g: ndarray) -> ndarray:
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return np.broadcast_to(g, self.data.shape)

        return Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,), (share,))

    def exp(self) -> "Tensor":
        """Return e to the power of every number."""
        result = np.exp(self.data)
        return Tensor(result, (self,), (lambda g: g * result,))

    def log(self) -> "Tensor":
        """Return the natural logarithm of every number."""
        return Tensor(np.log(self.data), (self,), (lambda g: g / self.data,))

    def relu(self) -> "Tensor":
        """Return every number if it is positive, else 0."""
        return Tensor(np.maximum(self.data, 0.0), (self,), (lambda g: g * (self.data > 0),))

    def backward(self, gradient: ndarray | None = None) -> None:
        """Add to the `grad` of every leaf its gradient, if the gradient of this tensor is as given.

        Without a gradient it is 1, and this tensor must have one number. Otherwise raise a ValueError that names the
        shape. Inner tensors get the gradient of this call alone.
        """
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
