"""ex06: two points, three classes, then two steps with momentum."""

import numpy as np

from autograder.checks import step

SCORES, LABELS = [[2, 1, 0], [0, 0, 3]], np.array([1, 2])


class Tracked:
    """A tensor with a gradient, in forward mode: it carries its slopes for each leaf that it is made of.

    The slopes for a leaf are an array: the axes of this tensor, then those of the leaf.
    """

    __array_ufunc__ = None

    def __init__(self, data, slopes=None):
        self.data = np.array(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        shape = self.data.shape
        own = np.eye(self.data.size).reshape(shape + shape) if slopes is None else None
        self.slopes = {self: own} if slopes is None else slopes

    def changed(self, data, change):
        """Return a result of this tensor alone; `change` gets the slopes for a leaf, and the number of its axes."""
        return Tracked(data, {leaf: change(slope, leaf.grad.ndim) for leaf, slope in self.slopes.items()})

    def __add__(self, other):
        other, slopes = tracked(other), {}
        data = self.data + other.data
        for part in (self, other):
            for leaf, slope in part.slopes.items():
                stretched = slope.reshape((1,) * (data.ndim - part.data.ndim) + slope.shape)
                slopes[leaf] = slopes.get(leaf, 0.0) + np.broadcast_to(stretched, data.shape + leaf.grad.shape)
        return Tracked(data, slopes)

    def scaled(self, factor):
        """Return the product with an array."""
        data = self.data * factor

        def change(slope, axes):
            lead = slope.reshape((1,) * (data.ndim - self.data.ndim) + slope.shape)
            return lead * np.asarray(factor).reshape(np.shape(factor) + (1,) * axes)

        return self.changed(data, change)

    def __mul__(self, other):
        other = tracked(other)
        total = self.scaled(other.data) + other.scaled(self.data)
        total.data = self.data * other.data
        return total

    def __matmul__(self, other):
        other, slopes = tracked(other), {}
        for leaf, slope in self.slopes.items():
            slopes[leaf] = np.einsum("nk...,km->nm...", slope, other.data)
        for leaf, slope in other.slopes.items():
            slopes[leaf] = slopes.get(leaf, 0.0) + np.einsum("nk,km...->nm...", self.data, slope)
        return Tracked(self.data @ other.data, slopes)

    def sum(self, axis=None, keepdims=False):
        axes = tuple(range(self.data.ndim)) if axis is None else (axis % self.data.ndim,)
        data = self.data.sum(axis=axes, keepdims=keepdims)
        return self.changed(data, lambda slope, _: slope.sum(axis=axes, keepdims=keepdims))

    def through(self, data, slopes):
        return self.changed(data, lambda slope, axes: slope * slopes.reshape(slopes.shape + (1,) * axes))

    def exp(self):
        return self.through(np.exp(self.data), np.exp(self.data))

    def log(self):
        return self.through(np.log(self.data), 1 / self.data)

    def relu(self):
        return self.through(np.maximum(self.data, 0.0), (self.data > 0) * 1.0)

    def backward(self, gradient=None):
        gradient = np.ones_like(self.data) if gradient is None else gradient
        for leaf, slope in self.slopes.items():
            leaf.grad = leaf.grad + np.tensordot(gradient, slope, axes=self.data.ndim)

    def __neg__(self):
        return self.scaled(-1.0)

    def __sub__(self, other):
        return self + -tracked(other)

    def __rsub__(self, other):
        return tracked(other) - self

    def __truediv__(self, number):
        return self.scaled(1.0 / number)

    def __rmatmul__(self, other):
        return tracked(other) @ self

    __radd__, __rmul__ = __add__, __mul__


def tracked(data):
    return data if isinstance(data, Tracked) else Tracked(data, {})


def entropy(impl):
    """Return scores and their loss after its backward pass."""
    scores = Tracked(SCORES)
    loss = impl.cross_entropy(scores, LABELS)
    loss.backward()
    return scores, loss


@step("softmax", "[0.665 0.245 0.090]\n[0.045 0.045 0.909]")
def step_softmax(impl, given):
    return impl.softmax(np.array(SCORES, dtype=np.float64))


@step("loss", "0.751")
def step_loss(impl, given):
    return float(entropy(impl)[1].data)


@step("gradient of the first row", "[0.333 -0.378 0.045]")
def step_gradient(impl, given):
    return entropy(impl)[0].grad[0]


@step("accuracy", "0.5")
def step_accuracy(impl, given):
    return float(impl.accuracy(np.array(SCORES, dtype=np.float64), LABELS))


@step("two steps with momentum", "[0.90 0.71]")
def step_momentum(impl, given):
    parameter = Tracked(1.0)
    optimizer, seen = impl.Momentum([parameter], 0.1), []
    for _ in range(2):
        parameter.grad = np.array(1.0)
        optimizer.step()
        seen.append(float(parameter.data))
    return seen
