# np.array_split by explicit borders, a closed form of the softmax, reduce over the layers.
from functools import reduce

import numpy as np


def softmax(scores):
    # 1 over the sum of powers of differences: no shift is needed, since every row has a difference of 0
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[:, None, :] - scores[:, :, None]).sum(axis=2)


def cross_entropy(scores, labels):
    labels = np.asarray(labels)
    rows = np.arange(labels.shape[0])
    top = scores.data.max(axis=1)
    picks = np.zeros_like(scores.data)
    picks[rows, labels] = 1
    log_sums = (scores - top[:, None]).exp().sum(axis=1).log() + top
    return (log_sums - (scores * picks).sum(axis=1)).sum() / labels.shape[0]


def network(parameters, x):
    pairs = list(zip(parameters[0::2], parameters[1::2]))
    first, *rest = pairs
    start = x @ first[0] + first[1]
    return reduce(lambda h, layer: h.relu() @ layer[0] + layer[1], rest, start)


def accuracy(scores, labels):
    order = np.argsort(scores, axis=1)
    return np.mean(order[:, -1] == labels)


class Momentum:
    def __init__(self, parameters, rate, momentum=0.9):
        self.parameters = tuple(parameters)
        self.rate = rate
        self.momentum = momentum
        self.velocities = None

    def clear(self):
        for parameter in self.parameters:
            parameter.grad = np.zeros(parameter.data.shape)

    def step(self):
        gradients = [parameter.grad.copy() for parameter in self.parameters]
        old = self.velocities or [0.0] * len(gradients)
        self.velocities = [self.momentum * v + g for v, g in zip(old, gradients)]
        for parameter, velocity in zip(self.parameters, self.velocities):
            parameter.data = -self.rate * velocity + parameter.data


def fit(parameters, optimizer, x, labels, batch_size, epochs):
    borders = list(range(batch_size, len(x), batch_size))
    means = []
    for _ in range(epochs):
        total = 0.0
        for points, right in zip(np.split(x, borders), np.split(labels, borders)):
            loss = cross_entropy(network(parameters, points), right)
            optimizer.clear()
            loss.backward()
            total += float(loss.data)
            optimizer.step()
        means.append(total / (len(borders) + 1))
    return means
