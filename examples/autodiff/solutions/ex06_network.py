# %% [markdown]
# # ex06: a network learns two moons
#
# Points of two classes lie on two moons that reach into each other. No straight line separates
# them. A network with one hidden layer does, and you have all its parts: products, sums, relu and
# their gradients. This exercise adds the loss for classes, and a better step.
#
# A network returns a *score* for each class. The *softmax* turns the scores $s_1 \ldots s_C$ of a
# point into probabilities. The *cross-entropy* is the surprise at the right label $y$:
#
# $$p_c = \frac{e^{s_c}}{\sum_k e^{s_k}} \qquad
# L = -\frac{1}{B} \sum_{b=1}^{B} \log p_{b, y_b} =
# \frac{1}{B} \sum_{b=1}^{B} \Big( \log \sum_k e^{s_{b,k}} - s_{b, y_b} \Big)$$
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | `(B, D)` | B points, an array |
# | `scores` | `(B, C)` | one score for each point and class |
# | `labels` | `(B,)` | the right class of each point: whole numbers from 0 on |
# | `parameters` | | a list: weights `(D, F)`, bias `(F,)`, weights `(F, C)`, bias `(C,)`, … |
#
# **Large scores.** `exp(1000)` is infinite, and infinity divided by infinity is not a number. The
# probabilities do not change if you subtract the same number from all scores of a point. So
# subtract the largest score of each point. Then the largest power is $e^0 = 1$. A probability may
# still become 0, so do not take its logarithm: use the right side of the formula.
#
# **Momentum.** A ball that rolls downhill gets faster where the slope stays the same. Each
# parameter has a velocity $v$, which starts at 0 (Polyak 1964; Sutskever et al. 2013, "On the
# importance of initialization and momentum in deep learning"). With gradient $g$, rate $\eta$ and
# momentum $\mu$:
#
# $$v \leftarrow \mu v + g \qquad w \leftarrow w - \eta v$$
#
# **Batches.** A step on a few points is cheap, and nearly as good as one on all points. One round
# through all batches is an *epoch*.
#
# **The parameters.** A parameter is a `Tensor` as in ex05. Your code uses its `data`, its `grad`,
# its operators, `sum`, `exp`, `log`, `relu` and `backward()`. It makes no tensor itself: arrays may
# stand beside tensors in `x @ w` and `t - array`. The checks bring tensors of their own.
#
# **NumPy you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.max(axis, keepdims)`] | the largest numbers along an axis; `x.sum` takes the same arguments |
# | [`x.argmax(axis)`] | the places of the largest numbers along an axis |
# | [`np.arange(n)`] | the whole numbers from 0 to n - 1 |
# | [`x[:, None]`] | a column of the numbers of x, which broadcasts against rows |
# | [`np.zeros_like(x)`] | an array of zeros with the shape of x |
#
# [`x.max(axis, keepdims)`]: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.max.html
# [`x.argmax(axis)`]: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.argmax.html
# [`np.arange(n)`]: https://numpy.org/doc/stable/reference/generated/numpy.arange.html
# [`x[:, None]`]: https://numpy.org/doc/stable/user/basics.indexing.html
# [`np.zeros_like(x)`]: https://numpy.org/doc/stable/reference/generated/numpy.zeros_like.html

# %% [markdown]
# ## Two points, three classes
#
# ```text
#   scores       exp                       softmax                   label    -log p
#   [2 1 0]      [7.389 2.718  1.000]      [0.665 0.245 0.090]         1       1.408
#   [0 0 3]      [1.000 1.000 20.086]      [0.045 0.045 0.909]         2       0.095
#
#   loss = (1.408 + 0.095) / 2 = 0.751
# ```
#
# The gradient of the loss by the scores is (p − 1 at the label, p elsewhere) / B. In the first row
# it is (0.333, −0.378, 0.045). So a step makes the score of the right class larger.
#
# Momentum 0.9 and rate 0.1, for a parameter of 1 whose gradient is 1 twice:
#
# ```text
#   step    velocity               parameter
#    1      0.9 · 0 + 1 = 1.0      1.0 - 0.1 · 1.0 = 0.90
#    2      0.9 · 1 + 1 = 1.9      0.9 - 0.1 · 1.9 = 0.71
# ```

# %%
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

Tensor = Any  # an array with data and grad, as in ex05


# %%
def softmax(scores: ndarray) -> ndarray:
    """Return the probabilities (B, C) of an array of scores (B, C), however large the scores are."""
    # TODO ex06: subtract the largest score of each row, then make each row sum to 1.
    ### BEGIN SOLUTION
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
    ### END SOLUTION


def cross_entropy(scores: Tensor, labels: ndarray) -> Tensor:
    """Return the mean of -log p of the right labels (B,), for a tensor of scores (B, C), however large they are."""
    # TODO ex06: log of the sum of powers, minus the score of the label. A product with an array of 0 and 1 selects it.
    ### BEGIN SOLUTION
    shifted = scores - scores.data.max(axis=1, keepdims=True)  # (B, C)
    is_label = np.arange(scores.data.shape[1]) == labels[:, None]  # (B, C)
    log_sums = shifted.exp().sum(axis=1).log()  # (B,)
    surprises = log_sums - (shifted * is_label).sum(axis=1)  # (B,)
    return surprises.sum() / len(labels)
    ### END SOLUTION


# %% [markdown]
# The network has as many layers as there are pairs of weights and bias. relu stands between two
# layers, and not after the last one: a score may be negative.


# %%
def network(parameters: Sequence[Tensor], x: ndarray) -> Tensor:
    """Return the scores (B, C) of points (B, D). Parameters alternate: weights (inputs, outputs), bias (outputs,)."""
    # TODO ex06: product and bias for each layer, with relu between two layers.
    ### BEGIN SOLUTION
    hidden: Any = x
    for i in range(0, len(parameters), 2):
        if i > 0:
            hidden = hidden.relu()
        hidden = hidden @ parameters[i] + parameters[i + 1]
    return hidden
    ### END SOLUTION


def accuracy(scores: ndarray, labels: ndarray) -> float:
    """Return the share of points whose largest score is that of their label."""
    # TODO ex06: return the class with the largest score of each row.
    ### BEGIN SOLUTION
    return float((scores.argmax(axis=1) == labels).mean())
    ### END SOLUTION


# %%
class Momentum:
    """Gradient descent with momentum. Each parameter has a velocity of its own, which starts at 0."""

    def __init__(self, parameters: Iterable[Tensor], rate: float, momentum: float = 0.9) -> None:
        self.parameters = list(parameters)
        self.rate = rate
        self.momentum = momentum
        self.velocities = [np.zeros_like(parameter.data) for parameter in self.parameters]

    def clear(self) -> None:
        """Set the gradient of every parameter to an array of zeros."""
        # TODO ex06: as in ex04, with arrays.
        ### BEGIN SOLUTION
        for parameter in self.parameters:
            parameter.grad = np.zeros_like(parameter.data)
        ### END SOLUTION

    def step(self) -> None:
        """Update every velocity with the gradient, and move every parameter against its velocity."""
        # TODO ex06: the two formulas, for each parameter.
        ### BEGIN SOLUTION
        for i, parameter in enumerate(self.parameters):
            self.velocities[i] = self.momentum * self.velocities[i] + parameter.grad
            parameter.data = parameter.data - self.rate * self.velocities[i]
        ### END SOLUTION


def fit(
    parameters: Sequence[Tensor], optimizer: Momentum, x: ndarray, labels: ndarray, batch_size: int, epochs: int
) -> list[float]:
    """Train on batches of consecutive points. Return the mean loss of the batches of each epoch, as plain numbers.

    The last batch of an epoch may be smaller. Each loss is that before its step.
    """
    # TODO ex06: for each epoch and batch, the five parts of a training step.
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train a network of your own tensors on two moons:
#
# ```python
# from ex05_tensors import Tensor
#
# random = np.random.default_rng(1)
# angles, labels = random.uniform(0, np.pi, 400), np.arange(400) % 2
# x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
# x[labels == 1] = [1.0, 0.5] - x[labels == 1]
# x += random.normal(0, 0.1, x.shape)
#
# weights = [Tensor(random.normal(0, (2 / n) ** 0.5, (n, m))) for n, m in ((2, 16), (16, 2))]
# parameters = [weights[0], Tensor(np.zeros(16)), weights[1], Tensor(np.zeros(2))]
# print(fit(parameters, Momentum(parameters, 0.1), x, labels, 40, 30))
# print(accuracy(network(parameters, x).data, labels))
# ```
#
# Nearly every point should be right. What changes with `momentum=0.0`, and what without the hidden
# layer?
