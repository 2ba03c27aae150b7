"""ex06: a network learns two moons. The tensors have the interface of ex05, and need none of your code in ex05."""

import numpy as np

from autograder.checks import SameInputs, check, picture


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


def array(given, *shape, scale=1.0):
    return scale * np.asarray(given.normal(*shape), dtype=np.float64)


def labels_of(given, count, classes):
    """Return labels in which class 0 and the last class both appear."""
    labels = [0, classes - 1] + [given.number(0, classes) for _ in range(count - 2)]
    return np.array(labels)


def layers(given, *sizes):
    """Return the parameters of a network whose layers have these sizes."""
    parameters = []
    for inputs, outputs in zip(sizes, sizes[1:], strict=False):
        parameters += [Tracked(array(given, inputs, outputs, scale=inputs**-0.5)), Tracked(array(given, outputs, scale=0.3))]
    return parameters


def moons(given, count):
    """Return points on two moons, and their labels."""
    labels = np.arange(count) % 2
    angles = np.pi * np.array([given.number(0, 1000) / 1000 for _ in range(count)])
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    x[labels == 1] = [1.0, 0.5] - x[labels == 1]
    return x + array(given, count, 2, scale=0.1), labels


@check("the probabilities of each point sum to 1, and follow its scores", points=3, of="softmax")
def test_softmax(impl, given):
    B, C = given.sizes("B C")
    return {"points": impl.softmax(array(given, B, C)), "one point": impl.softmax(array(given, 1, C))}


@check("large and small scores give probabilities too", points=2, of="softmax")
def test_softmax_range(impl, given):
    B, C = given.sizes("B C")
    scores, far = array(given, B, C), np.zeros((B, 1))
    far[0], far[1] = 900.0, -900.0
    wide = np.array(scores)
    wide[0, 0] += 900.0  # in one row with small scores
    return {
        "around 900, -900 and 0": impl.softmax(scores + far),
        "all around -2000": impl.softmax(scores - 2000.0),
        "one of them near 900": impl.softmax(wide),
    }


def entropy(impl, scores, labels):
    """Observe a loss, and its gradient by the scores."""
    scores = Tracked(scores)
    with np.errstate(all="ignore"):  # a warning would name a line of this file
        loss = impl.cross_entropy(scores, labels)
        loss.backward()
    return {"loss": float(loss.data), "gradient": scores.grad}


@check("the loss is the mean surprise at the right labels", points=4, of="cross_entropy")
def test_loss(impl, given):
    B, C = given.sizes("B C")
    return {
        "points": entropy(impl, array(given, B, C), labels_of(given, B, C)),
        "one point": entropy(impl, array(given, 1, C), np.array([given.number(0, C)])),
    }


@check("large scores give a finite loss and gradient", points=3, of="cross_entropy")
def test_loss_range(impl, given):
    B, C = given.sizes("B C")
    scores, labels, far = array(given, B, C), labels_of(given, B, C), np.zeros((B, 1))
    far[0], far[1] = 900.0, -900.0
    wrong = np.array(scores)
    wrong[0, 1:] += 800.0  # the label of the first point is 0: its probability is 0 in float64
    return {"scores far from 0": entropy(impl, scores + far, labels), "sure, and wrong": entropy(impl, wrong, labels)}


@check("each layer multiplies and adds its bias, with relu between two layers", points=4, of="network")
def test_network(impl, given):
    B, D, F, C = given.sizes("B D F C")
    seen = {}
    for name, sizes in {"one layer": (D, C), "two layers": (D, F, C), "three layers": (D, F, D, C)}.items():
        parameters, x = layers(given, *sizes), array(given, B, D)
        scores = impl.network(parameters, x)
        scores.backward(array(given, B, C))
        seen[name] = {"scores": scores.data, "gradients": [parameter.grad for parameter in parameters]}
    return seen


@check("the accuracy is the share of points with the largest score at their label", points=2, of="accuracy")
def test_accuracy(impl, given):
    C = given.size("C")
    scores, labels = array(given, 11, C), labels_of(given, 11, C)
    scores += 20.0 * array(given, 11, 1)  # all scores of a point may have one sign
    right = given.number(3, 9)
    scores[np.arange(right), labels[:right]] += 9.0
    scores[np.arange(right, 11), (labels[right:] + 1) % C] += 9.0
    return float(impl.accuracy(scores, labels))


def optimizer(impl, given, **options):
    """Return parameters and their optimizer."""
    B, F = given.sizes("B F")
    parameters = [Tracked(array(given, B, F)), Tracked(array(given, F)), Tracked(array(given, B, F))]
    return parameters, impl.Momentum(parameters, **options)


def follow(given, parameters, optimizer, steps):
    """Observe the parameters after each step, with random gradients."""
    seen = {}
    for step in range(1, steps + 1):
        for parameter in parameters:
            parameter.grad = array(given, *parameter.data.shape)
        optimizer.step()
        seen[f"after step {step}"] = [np.array(parameter.data) for parameter in parameters]
    return seen


@check("without momentum, a step is gradient descent", points=2, of="Momentum")
def test_plain_step(impl, given):
    return follow(given, *optimizer(impl, given, rate=0.25, momentum=0.0), 2)


@check("velocities grow over several steps", points=4, of="Momentum")
def test_momentum(impl, given):
    return {
        "momentum 0.5": follow(given, *optimizer(impl, given, rate=0.1, momentum=0.5), 3),
        "momentum not given": follow(given, *optimizer(impl, given, rate=0.2), 3),
    }


@check("gradients are cleared, and velocities stay", points=2, of="Momentum")
def test_cleared(impl, given):
    parameters, own = optimizer(impl, given, rate=0.1, momentum=0.5)
    follow(given, parameters, own, 1)
    own.clear()
    gradients = [np.array(parameter.grad, dtype=np.float64) for parameter in parameters]
    own.step()
    return {"gradients": gradients, "after one more step": [parameter.data for parameter in parameters]}


@check("an optimizer leaves gradients and other optimizers alone", of="Momentum", requires_any=("plain_step", "momentum"))
def test_separate(impl, given):
    first, one = optimizer(impl, given, rate=0.1, momentum=0.5)
    second, other = optimizer(impl, given, rate=0.1, momentum=0.5)
    follow(given, first, one, 2)
    seen = follow(given, second, other, 1)
    return {"gradients": [parameter.grad for parameter in second], **seen}


@check("training visits every batch in each epoch, and clears the gradients", points=4, of="fit")
def test_fit(impl, given):
    D, F, C = given.sizes("D F C")
    seen = {}
    for name, batch_size in {"the last batch is smaller": 4, "one batch": 11}.items():
        parameters, x, labels = layers(given, D, F, C), array(given, 11, D), labels_of(given, 11, C)
        for parameter in parameters:
            parameter.grad = np.ones_like(parameter.data)  # left from an earlier pass
        losses = impl.fit(parameters, impl.Momentum(parameters, 0.1), x, labels, batch_size, 3)
        seen[name] = {"losses": [float(loss) for loss in losses], "parameters": [parameter.data for parameter in parameters]}
    return seen


@check("a network learns two moons", points=3, of="fit")
def test_moons(impl, given):
    x, labels = moons(given, 24)
    parameters = layers(given, 2, 5, 2)
    losses = impl.fit(parameters, impl.Momentum(parameters, 0.2), x, labels, 8, 15)
    scores = impl.network(parameters, x).data
    return {"last loss": float(losses[-1]), "scores": scores, "accuracy": float(impl.accuracy(scores, labels))}


@check("points, labels and scores are not modified", points=1, requires_any=("softmax", "loss", "fit"), judge=SameInputs())
def test_inputs_kept(impl, given):
    D, C = given.sizes("D C")
    parameters, x, labels = layers(given, D, C), array(given, 6, D), labels_of(given, 6, C)
    scores = array(given, 6, C)
    impl.softmax(scores)
    impl.accuracy(scores, labels)
    impl.fit(parameters, impl.Momentum(parameters, 0.1), x, labels, 4, 1)
    return {"points": x, "labels": [int(label) for label in labels], "scores": scores}


TRAINED = (  # 8 units, trained on 400 points of the lesson's moons, rounded: all 400 are right
    [[3.1, 0.0, -1.2, -2.8, -0.3, 4.2, -0.1, -1.8], [1.5, -1.9, -1.3, 1.3, -0.6, -0.9, -0.1, -0.3]],
    [-0.6, 2.1, 0.0, -0.7, -0.5, -4.0, -0.5, 0.1],
    [[2.0, -2.6], [-1.5, 1.8], [0.1, -0.9], [2.9, -1.7], [-0.3, -0.1], [-3.7, 3.9], [0.6, 0.4], [1.1, -1.1]],
    [0.1, -0.1],
)


@picture("the plane, as a trained network sees it: how likely is the lower moon?", rows="y", columns="x")
def picture_plane(impl, given):
    x, y = np.linspace(-1.4, 2.4, 48), np.linspace(1.4, -0.9, 13)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    scores = impl.network([Tracked(numbers, {}) for numbers in TRAINED], points).data
    return impl.softmax(scores)[:, 1].reshape(13, 48), [f"{height:.1f}" for height in y], []
