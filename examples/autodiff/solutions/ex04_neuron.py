# %% [markdown]
# # ex04: a network that learns
#
# A *neuron* multiplies each input by a weight, adds everything and a bias, and bends the result. A
# *layer* is several neurons with the same inputs. A *network* is several layers, one after another
# (Rumelhart, Hinton and Williams 1986, "Learning representations by back-propagating errors"):
#
# $$\text{neuron}(x) = \tanh\Big(b + \sum_i w_i x_i\Big)
# \qquad L = \frac{1}{N} \sum_{n=1}^{N} (p_n - t_n)^2$$
#
# $L$ is the *loss*: the mean squared distance between predictions $p_n$ and targets $t_n$. Weights
# and biases are the *parameters*. Learning moves each parameter a little against its gradient:
#
# $$w \leftarrow w - \eta \, \frac{\partial L}{\partial w}$$
#
# The *learning rate* $\eta$ says how far. This is *gradient descent*.
#
# **What you need.** A parameter is a `Value` as in ex03. Your code uses its `data`, its `grad`, its
# operators, `tanh()` and `backward()`. It makes none itself. So any class with these names will do,
# and the checks bring their own. To train a network of your own values, see the end of the lesson.
#
# | name | what it is |
# |---|---|
# | a neuron | a pair: a list of weights, and a bias |
# | a layer | a list of neurons |
# | a network | a list of layers |
# | a sample | a list of plain numbers |
#
# **A training step** has five parts: clear the gradients, predict, compute the loss, call
# `backward`, and descend. Gradients add up over calls (ex03), so a step that clears nothing uses
# the gradients of all steps before.

# %% [markdown]
# ## One neuron, one step
#
# Two weights (0.5, −1), a bias of 0.2, one sample (1, 2) with the target −1, and a rate of 1.
#
# ```text
#   sum           0.5 · 1 - 1 · 2 + 0.2 = -1.3
#   prediction    tanh(-1.3) = -0.8617
#   loss          (-0.8617 - (-1))² = 0.0191
#
#   gradient of the sum      2 · (-0.8617 + 1) · (1 - 0.8617²) = 0.0712
#   gradients of weights     0.0712 · 1 = 0.0712       0.0712 · 2 = 0.1424
#   gradient of the bias     0.0712
#
#   new weights   0.5 - 0.0712 = 0.4288      -1 - 0.1424 = -1.1424
#   new bias      0.2 - 0.0712 = 0.1288
# ```
#
# With them, the loss of the same sample is 0.0038.

# %%
from collections.abc import Iterable, Sequence
from typing import Any

Value = Any  # a number with data and grad, as in ex03
Neuron = tuple[list[Value], Value]  # weights and a bias
Layer = list[Neuron]


# %%
def neuron(weights: Sequence[Value], bias: Value, inputs: Sequence[float]) -> Value:
    """Return tanh of the bias plus the sum of weight times input."""
    # TODO ex04: one product for each input. Bend the sum, not each product.
    ### BEGIN SOLUTION
    total = bias
    for weight, number in zip(weights, inputs, strict=True):
        total = total + weight * number
    return total.tanh()
    ### END SOLUTION


def network(layers: Sequence[Layer], inputs: Sequence[float]) -> list[Value]:
    """Return the outputs of the last layer. Each layer gets the outputs of the layer before it."""
    # TODO ex04: for each layer, call every neuron with the same inputs.
    ### BEGIN SOLUTION
    outputs: Sequence[Any] = inputs
    for layer in layers:
        outputs = [neuron(weights, bias, outputs) for weights, bias in layer]
    return list(outputs)
    ### END SOLUTION


def parameters(layers: Sequence[Layer]) -> list[Value]:
    """Return all parameters: layer by layer, neuron by neuron, first the weights and then the bias."""
    # TODO ex04: one flat list. Training is nothing but changing these.
    ### BEGIN SOLUTION
    return [parameter for layer in layers for weights, bias in layer for parameter in (*weights, bias)]
    ### END SOLUTION


# %% [markdown]
# The loss is one number for all samples. Its gradient says what would make all predictions better
# together.


# %%
def squared_error(predictions: Sequence[Value], targets: Sequence[float]) -> Value:
    """Return the mean of the squared differences between predictions and targets."""
    # TODO ex04: one squared difference for each pair, then their mean.
    ### BEGIN SOLUTION
    errors = [(prediction - target) ** 2 for prediction, target in zip(predictions, targets, strict=True)]
    return sum(errors) / len(errors)
    ### END SOLUTION


def clear_gradients(of: Iterable[Value]) -> None:
    """Set the gradient of every parameter to 0."""
    # TODO ex04: change the grad of each parameter, and nothing else.
    ### BEGIN SOLUTION
    for parameter in of:
        parameter.grad = 0.0
    ### END SOLUTION


def descend(of: Iterable[Value], rate: float) -> None:
    """Move every parameter against its gradient, by rate times gradient."""
    # TODO ex04: change the data of each parameter, and nothing else.
    ### BEGIN SOLUTION
    for parameter in of:
        parameter.data -= rate * parameter.grad
    ### END SOLUTION


# %% [markdown]
# Now all parts come together. The network has one output here: the prediction is the only number in
# the list that `network` returns.


# %%
def train_step(
    layers: Sequence[Layer], samples: Sequence[Sequence[float]], targets: Sequence[float], rate: float
) -> float:
    """Do one step of gradient descent on all samples. Return the loss before the step, as a plain number."""
    # TODO ex04: the five parts of a step, in their order.
    ### BEGIN SOLUTION
    trained = parameters(layers)
    clear_gradients(trained)
    predictions = [network(layers, sample)[0] for sample in samples]
    loss = squared_error(predictions, targets)
    loss.backward()
    descend(trained, rate)
    return loss.data
    ### END SOLUTION


def fit(
    layers: Sequence[Layer], samples: Sequence[Sequence[float]], targets: Sequence[float], rate: float, steps: int
) -> list[float]:
    """Do that many steps. Return the loss before each of them."""
    # TODO ex04: collect what the steps return.
    ### BEGIN SOLUTION
    return [train_step(layers, samples, targets, rate) for _ in range(steps)]
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train a network of your own `Value` on "exactly one of two inputs is 1", with rate 0.5:
#
# ```python
# import random
# from ex03_backward import Value
#
# def layer(inputs, neurons):
#     return [([Value(random.gauss()) for _ in range(inputs)], Value(0)) for _ in range(neurons)]
#
# layers = [layer(2, 4), layer(4, 1)]
# print(fit(layers, [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1], 0.5, 200)[::20])
# ```
#
# If the loss stays near 1, begin again with other random numbers. Then remove the layer of four
# neurons. How low does the loss get now, and why?
