# Arrays are changed in place wherever they are the code's own; the loss is made row by row.
import numpy as np


def softmax(scores):
    powers = np.array(scores, dtype=float)
    powers -= powers.max(axis=1)[:, np.newaxis]
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=1)[:, np.newaxis]
    return powers


def cross_entropy(scores, labels):
    selected = np.zeros(scores.data.shape)
    for row, label in enumerate(labels):
        selected[row, label] = 1.0
    margin = scores + (-scores.data.max(axis=1, keepdims=True))
    right = (margin * selected).sum(axis=1)
    return (margin.exp().sum(axis=1).log() + right * -1.0).sum() * (1 / len(selected))


def network(parameters, x):
    if len(parameters) == 2:
        w, b = parameters
        return x @ w + b
    return last(network(parameters[:-2], x).relu(), *parameters[-2:])


def last(hidden, w, b):
    return (hidden @ w) + b


def accuracy(scores, labels):
    right = 0
    for row, label in zip(scores, labels):
        right += max(range(len(row)), key=row.__getitem__) == label
    return right / len(labels)


class Momentum:
    def __init__(self, parameters, rate, momentum=0.9):
        self.pairs = [(parameter, np.zeros(parameter.data.shape)) for parameter in parameters]
        self.rate = rate
        self.momentum = momentum

    def clear(self):
        for parameter, _ in self.pairs:
            parameter.grad[...] = 0.0

    def step(self):
        for parameter, velocity in self.pairs:
            velocity *= self.momentum
            velocity += parameter.grad
            parameter.data -= self.rate * velocity


def batches(x, labels, size):
    while len(x):
        yield x[:size], labels[:size]
        x, labels = x[size:], labels[size:]


def fit(parameters, optimizer, x, labels, batch_size, epochs):
    means = []
    while len(means) < epochs:
        losses = [train(parameters, optimizer, *batch) for batch in batches(x, labels, batch_size)]
        means.append(np.mean(losses))
    return means


def train(parameters, optimizer, x, labels):
    optimizer.clear()
    loss = cross_entropy(network(parameters, x), labels)
    loss.backward()
    optimizer.step()
    return loss.data.item()
