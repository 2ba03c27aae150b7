# Products by einsum, broadcasting undone by einsum too, gradients of one call in a dict.
import numpy as np


def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    padded = (1,) * missing + tuple(shape)
    axes = [axis for axis in range(gradient.ndim) if padded[axis] == 1]
    kept = [axis for axis in range(gradient.ndim) if padded[axis] != 1]
    return np.einsum(gradient, [*range(gradient.ndim)], kept).reshape(shape) if axes else gradient.copy()


class Tensor:
    __array_ufunc__ = None
    __slots__ = ("data", "grad", "rule", "inputs")

    def __init__(self, data, inputs=(), rule=None):
        self.data = np.array(data, np.float64)
        self.grad = np.zeros_like(self.data)
        self.inputs, self.rule = inputs, rule

    def __add__(self, other):
        other = tensor(other)
        return Tensor(
            np.add(self.data, other.data),
            (self, other),
            lambda g: (unbroadcast(g, self.data.shape), unbroadcast(g, other.data.shape)),
        )

    def __mul__(self, other):
        other = tensor(other)
        return Tensor(
            np.multiply(self.data, other.data),
            (self, other),
            lambda g: (unbroadcast(g * other.data, self.data.shape), unbroadcast(g * self.data, other.data.shape)),
        )

    def __matmul__(self, other):
        other = tensor(other)
        return Tensor(
            np.einsum("nk,km->nm", self.data, other.data),
            (self, other),
            lambda g: (np.einsum("nm,km->nk", g, other.data), np.einsum("nk,nm->km", self.data, g)),
        )

    def sum(self, axis=None, keepdims=False):
        def rule(g):
            whole = np.ones_like(self.data)
            if axis is None:
                return (whole * g,)
            return (whole * (g if keepdims else np.expand_dims(g, axis)),)

        return Tensor(self.data.sum(axis, keepdims=keepdims), (self,), rule)

    def exp(self):
        return Tensor(np.exp(self.data), (self,), lambda g: (g * np.exp(self.data),))

    def log(self):
        return Tensor(np.log(self.data), (self,), lambda g: (g * self.data**-1,))

    def relu(self):
        return Tensor(np.where(self.data > 0, self.data, 0), (self,), lambda g: (np.where(self.data > 0, g, 0),))

    def backward(self, gradient=None):
        if gradient is None:
            if self.data.size != 1:
                raise ValueError("shape " + "x".join(map(str, self.data.shape)) + " is not one number")
            gradient = np.ones(self.data.shape)
        gradients = {self: np.asarray(gradient)}
        order = []
        visit(self, set(), order)
        for node in order[::-1]:
            g = gradients[node]
            node.grad = g if node.rule else node.grad + g
            if node.rule:
                for parent, share in zip(node.inputs, node.rule(g)):
                    gradients[parent] = gradients.get(parent, 0) + share

    def __neg__(self):
        return tensor(-1.0) * self

    def __sub__(self, other):
        return self + tensor(other) * -1

    def __truediv__(self, number):
        return self * np.reciprocal(float(number))

    def __radd__(self, other):
        return tensor(other) + self

    def __rsub__(self, other):
        return tensor(other) - self

    def __rmul__(self, other):
        return tensor(other) * self

    def __rmatmul__(self, other):
        return tensor(other) @ self


def tensor(data):
    return data if isinstance(data, Tensor) else Tensor(data)


def visit(node, seen, order):
    if node not in seen:
        seen.add(node)
        for parent in node.inputs:
            visit(parent, seen, order)
        order.append(node)
