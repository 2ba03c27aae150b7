from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

Tensor = Any  # an array with data and grad, as in ex05


def softmax(scores: ndarray) -> ndarray:
    """Return the probabilities (B, C) of an array of scores (B, C), however large the scores are."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def cross_entropy(scores: Tensor, labels: ndarray) -> Tensor:
    """Return the mean of -log p of the right labels (B,), for a tensor of scores (B, C), however large they are."""
    shifted = scores - scores.data.max(axis=1, keepdims=True)  # (B, C)
    is_label = np.arange(scores.data.shape[1]) == labels[:, None]  # (B, C)
    log_sums = shifted.exp().sum(axis=1).log()  # (B,)
    surprises = log_sums - (shifted * is_label).sum(axis=1)  # (B,)
    return surprises.sum() / len(labels)


def network(parameters: Sequence[Tensor], x: ndarray) -> Tensor:
    """Return the scores (B, C) of points (B, D). Parameters alternate: weights (inputs, outputs), bias (outputs,)."""
    hidden: Any = x
    for i in range(0, len(parameters), 2):
        if i > 0:
            hidden = hidden.relu()
        hidden = hidden @ parameters[i] + parameters[i + 1]
    return hidden


def accuracy(scores: ndarray, labels: ndarray) -> float:
    """Return the share of points whose largest score is that of their label."""
    return float((scores.argmax(axis=1) == labels).mean())


class Momentum:
    """Gradient descent with momentum. Each parameter has a velocity of its own, which starts at 0."""

    def __init__(self, parameters: Iterable[Tensor], rate: float, momentum: float = 0.9) -> None:
        self.parameters = list(parameters)
        self.rate = rate
        self.momentum = momentum
        self.velocities = [np.zeros_like(parameter.data) for parameter in self.parameters]

    def clear(self) -> None:
        """Set the gradient of every parameter to an array of zeros."""
        for parameter in self.parameters:
            parameter.grad = np.zeros_like(parameter.data)

    def step(self) -> None:
        """Update every velocity with the gradient, and move every parameter against its velocity."""
        for i, parameter in enumerate(self.parameters):
            self.velocities[i] = self.momentum * self.velocities[i] + parameter.grad
            parameter.data = parameter.data - self.rate * self.velocities[i]


def fit(
    parameters: Sequence[Tensor], optimizer: Momentum, x: ndarray, labels: ndarray, batch_size: int, epochs: int
) -> list[float]:
    """Train on batches of consecutive points. Return the mean loss of the batches of each epoch, as plain numbers.

    The last batch of an epoch may be smaller. Each loss is that before its step.
    """
    means = []
    for _ in range(epochs):
        losses = []
        for start in range(0, len(x), batch_size):
            batch = slice(start, start + batch_size)
            optimizer.clear()
            loss = cross_entropy(network(parameters, x[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            losses.append(float(loss.data))
        means.append(sum(losses) / len(losses))
    return means
