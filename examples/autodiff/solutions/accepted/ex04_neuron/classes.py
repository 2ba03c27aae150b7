# A class holds the network; the functions of the contract are short views of it. tanh is written with exp.
from functools import reduce
from itertools import chain


class Network:
    def __init__(self, layers):
        self.layers = layers
        self.parameters = list(chain.from_iterable(chain(w, [b]) for layer in layers for w, b in layer))

    def __call__(self, inputs):
        return reduce(lambda x, layer: [neuron(w, b, x) for w, b in layer], self.layers, inputs)

    def step(self, samples, targets, rate):
        for parameter in self.parameters:
            parameter.grad = 0.0
        loss = squared_error([self(sample)[0] for sample in samples], targets)
        loss.backward()
        for parameter in self.parameters:
            parameter.data -= rate * parameter.grad
        return loss.data


def neuron(weights, bias, inputs):
    total = bias + sum(weight * number for weight, number in zip(weights, inputs))
    return 1 - 2 / ((total * 2).exp() + 1)


def network(layers, inputs):
    return Network(layers)(inputs)


def parameters(layers):
    return Network(layers).parameters


def squared_error(predictions, targets):
    squares = list(map(lambda p, t: (p - t) ** 2, predictions, targets))
    return reduce(lambda a, b: a + b, squares) * (len(squares) ** -1)


def clear_gradients(of):
    list(map(lambda p: setattr(p, "grad", 0.0), of))


def descend(of, rate):
    for parameter in of:
        parameter.data -= rate * parameter.grad


def train_step(layers, samples, targets, rate):
    return Network(layers).step(samples, targets, rate)


def fit(layers, samples, targets, rate, steps):
    model = Network(layers)
    return [model.step(samples, targets, rate) for _ in range(steps)]
