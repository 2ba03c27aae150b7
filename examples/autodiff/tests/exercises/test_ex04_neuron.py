"""ex04: a network that learns. The numbers have the interface of ex03, and need none of your code in ex03."""

import math

from autograder.checks import check, picture


class Number:
    """A number with a gradient, in forward mode: it carries its slope for each leaf that it is made of."""

    def __init__(self, data, slopes=None):
        self.data, self.grad = float(data), 0.0
        self.slopes = {self: 1.0} if slopes is None else slopes

    def made(self, data, *parts):
        """Return a result, made of pairs of an operand and the slope for it."""
        slopes = {}
        for part, slope in parts:
            for leaf, inner in part.slopes.items():
                slopes[leaf] = slopes.get(leaf, 0.0) + slope * inner
        return Number(data, slopes)

    def __add__(self, other):
        other = as_number(other)
        return self.made(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = as_number(other)
        return self.made(self.data * other.data, (self, other.data), (other, self.data))

    def __pow__(self, exponent):
        return self.made(self.data**exponent, (self, exponent * self.data ** (exponent - 1)))

    def __truediv__(self, other):
        return self * as_number(other) ** -1

    def __sub__(self, other):
        return self + -as_number(other)

    def __neg__(self):
        return self * -1.0

    def __rsub__(self, other):
        return as_number(other) - self

    def __rtruediv__(self, other):
        return as_number(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        return self.made(math.exp(self.data), (self, math.exp(self.data)))

    def tanh(self):
        return self.made(math.tanh(self.data), (self, 1 - math.tanh(self.data) ** 2))

    def relu(self):
        return self.made(max(self.data, 0.0), (self, float(self.data > 0)))

    def backward(self):
        for leaf, slope in self.slopes.items():
            leaf.grad += slope


def as_number(value):
    return value if isinstance(value, Number) else Number(value, {})


def numbers(given, count, scale=0.7):
    return [scale * float(number) for number in given.normal(count)]


def layer(given, inputs, neurons):
    """Return a layer with random parameters."""
    rows = [numbers(given, inputs + 1) for _ in range(neurons)]
    return [([Number(number) for number in row[:-1]], Number(row[-1])) for row in rows]


def pool(layers):
    """Return all parameters of a network, in the order of the contract."""
    return [parameter for layer in layers for weights, bias in layer for parameter in (*weights, bias)]


def data_of(values):
    return [float(value.data) for value in values]


def gradients_of(values):
    return [float(value.grad) for value in values]


def problem(given):
    """Return a network of one output, three samples and their targets."""
    layers = [layer(given, 2, 3), layer(given, 3, 1)]
    return layers, [numbers(given, 2, 1.0) for _ in range(3)], numbers(given, 3, 0.5)


@check("a neuron bends the sum of its weighted inputs and its bias", points=3, of="neuron")
def test_neuron(impl, given):
    seen = {}
    for count in (3, 1):
        (weights, bias), inputs = layer(given, count, 1)[0], numbers(given, count, 1.0)
        output = impl.neuron(weights, bias, inputs)
        output.backward()
        seen[f"{count} inputs"] = {"output": output.data, "gradients": gradients_of([*weights, bias])}
    return seen


@check("each layer gets the outputs of the layer before it", points=3, of="network")
def test_network(impl, given):
    layers, inputs = [layer(given, 2, 3), layer(given, 3, 4), layer(given, 4, 2)], numbers(given, 2, 1.0)
    return {
        "one layer": data_of(impl.network(layers[:1], inputs)),
        "three layers": data_of(impl.network(layers, inputs)),
    }


@check("all weights and biases are parameters, in order", points=2, of="parameters")
def test_parameters(impl, given):
    layers = [layer(given, 2, 3), layer(given, 3, 1)]
    known = {id(parameter): i for i, parameter in enumerate(pool(layers))}
    found = impl.parameters(layers)
    places = [known.get(id(parameter), -1) for parameter in found]
    return {"number of parameters": len(found), "numbers": data_of(found), "which of them": places}


@check("the loss is the mean of the squared errors", points=3, of="squared_error")
def test_loss(impl, given):
    predictions, targets = [Number(number) for number in numbers(given, 4)], numbers(given, 4)
    loss = impl.squared_error(predictions, targets)
    loss.backward()
    alone = impl.squared_error(predictions[:1], targets[:1])
    return {"loss": loss.data, "gradients": gradients_of(predictions), "loss of one sample": alone.data}


@check("clearing sets every gradient to 0, and keeps the numbers", points=1, of="clear_gradients", requires_any=("descent", "step"))
def test_cleared(impl, given):
    values = [Number(number) for number in numbers(given, 4)]
    for value in values:
        value.grad = float(given.number(1, 9))
    impl.clear_gradients(values)
    return {"gradients": gradients_of(values), "numbers": data_of(values)}


@check("each parameter moves against its gradient, by rate times gradient", points=3, of="descend")
def test_descent(impl, given):
    values, gradients = [Number(number) for number in numbers(given, 4)], numbers(given, 4, 2.0)
    for value, gradient in zip(values, gradients, strict=True):
        value.grad = gradient
    seen = {}
    for rate in (0.25, 0.1):
        impl.descend(values, rate)
        seen[f"rate {rate}"] = data_of(values)
    return {**seen, "gradients": gradients_of(values)}


@check("a step moves all parameters, and returns the loss before it", points=4, of="train_step")
def test_step(impl, given):
    layers, samples, targets = problem(given)
    loss = impl.train_step(layers, samples, targets, 0.25)
    return {"loss": float(loss), "parameters": data_of(pool(layers))}


@check("a step uses its own gradients only", points=3, of="train_step")
def test_own_gradients(impl, given):
    layers, samples, targets = problem(given)
    for parameter in pool(layers):
        parameter.grad = float(given.number(1, 5))  # left from an earlier pass
    losses = [float(impl.train_step(layers, samples, targets, 0.25)) for _ in range(3)]
    return {"losses": losses, "parameters": data_of(pool(layers))}


@check("training returns the loss before each step, and learns", points=3, of="fit")
def test_fit(impl, given):
    layers, samples, targets = problem(given)
    losses = impl.fit(layers, samples, targets, 0.5, 12)
    return {"number of losses": len(losses), "losses": list(map(float, losses)), "parameters": data_of(pool(layers))}


@check("samples and targets are not modified", points=1, requires_any=("step", "loss", "network"))
def test_inputs_kept(impl, given):
    layers, samples, targets = problem(given)
    before = {"samples": [list(sample) for sample in samples], "targets": list(targets)}
    impl.fit(layers, samples, targets, 0.1, 2)
    return {"before": before, "after": {"samples": samples, "targets": targets}}


@picture("exactly one of two inputs is 1: the loss before each of 24 steps", rows="loss", columns="step")
def picture_losses(impl, given):
    import numpy as np  # only the picture needs it, and it takes long to load

    rows = [[1.1, -0.9, 0.3], [-0.8, 1.2, 0.2], [0.6, 0.5, -0.4]]
    hidden = [([Number(a), Number(b)], Number(bias)) for a, b, bias in rows]
    layers = [hidden, [([Number(0.9), Number(1.1), Number(-0.3)], Number(0.1))]]
    losses = impl.fit(layers, [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1], 0.4, 24)
    return np.array(losses, dtype=np.float64)
