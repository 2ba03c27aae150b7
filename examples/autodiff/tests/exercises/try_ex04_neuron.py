"""ex04: one neuron, one step. The numbers know only the slopes that this example needs."""

import math

from autograder.checks import step


class Number:
    """A number with a gradient, in forward mode: it carries its slope for each leaf that it is made of."""

    def __init__(self, data, slopes=None):
        self.data, self.grad = float(data), 0.0
        self.slopes = {self: 1.0} if slopes is None else slopes

    def made(self, data, *parts):
        slopes = {}
        for part, slope in parts:
            for leaf, inner in part.slopes.items():
                slopes[leaf] = slopes.get(leaf, 0.0) + slope * inner
        return Number(data, slopes)

    def __add__(self, other):
        other = other if isinstance(other, Number) else Number(other, {})
        return self.made(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Number) else Number(other, {})
        return self.made(self.data * other.data, (self, other.data), (other, self.data))

    def __pow__(self, exponent):
        return self.made(self.data**exponent, (self, exponent * self.data ** (exponent - 1)))

    def __truediv__(self, other):
        return self * (other**-1 if isinstance(other, Number) else 1 / other)

    def __sub__(self, other):
        return self + other * -1.0

    def __rsub__(self, other):
        return self * -1.0 + other

    def __rtruediv__(self, other):
        return self**-1 * other

    def __neg__(self):
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        return self.made(math.exp(self.data), (self, math.exp(self.data)))

    def tanh(self):
        return self.made(math.tanh(self.data), (self, 1 - math.tanh(self.data) ** 2))

    def backward(self):
        for leaf, slope in self.slopes.items():
            leaf.grad += slope


def one_neuron():
    return [Number(0.5), Number(-1)], Number(0.2)


def trained(impl):
    """Return the weights and the bias after one step, and the layers."""
    weights, bias = one_neuron()
    layers = [[(weights, bias)]]
    impl.train_step(layers, [[1, 2]], [-1], 1.0)
    return weights, bias, layers


@step("prediction", "-0.8617")
def step_prediction(impl, given):
    return impl.neuron(*one_neuron(), [1, 2]).data


@step("loss", "0.0191")
def step_loss(impl, given):
    return impl.squared_error([impl.neuron(*one_neuron(), [1, 2])], [-1]).data


@step("gradients", "[0.0712 0.1424 0.0712]")
def step_gradients(impl, given):
    weights, bias = one_neuron()
    impl.squared_error([impl.neuron(weights, bias, [1, 2])], [-1]).backward()
    return [value.grad for value in (*weights, bias)]


@step("new weights", "[0.4288 -1.1424]")
def step_weights(impl, given):
    return [weight.data for weight in trained(impl)[0]]


@step("new bias", "0.1288")
def step_bias(impl, given):
    return trained(impl)[1].data


@step("loss after the step", "0.0038")
def step_new_loss(impl, given):
    layers = trained(impl)[2]
    return impl.train_step(layers, [[1, 2]], [-1], 1.0)
