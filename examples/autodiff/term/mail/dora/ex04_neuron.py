from collections.abc import Iterable, Sequence
from typing import Any

Value = Any  # a number with data and grad, as in ex03
Neuron = tuple[list[Value], Value]  # weights and a bias
Layer = list[Neuron]


def neuron(weights: Sequence[Value], bias: Value, inputs: Sequence[float]) -> Value:
    """Return tanh of the bias plus the sum of weight times input."""
    total = bias
    for weight, number in zip(weights, inputs, strict=True):
        total = total + weight * number
    return total.tanh()


def network(layers: Sequence[Layer], inputs: Sequence[float]) -> list[Value]:
    """Return the outputs of the last layer. Each layer gets the outputs of the layer before it."""
    outputs: Sequence[Any] = inputs
    for layer in layers:
        outputs = [neuron(weights, bias, outputs) for weights, bias in layer]
    return list(outputs)


def parameters(layers: Sequence[Layer]) -> list[Value]:
    """Return all parameters: layer by layer, neuron by neuron, first the weights and then the bias."""
    return [parameter for layer in layers for weights, bias in layer for parameter in (*weights, bias)]


def squared_error(predictions: Sequence[Value], targets: Sequence[float]) -> Value:
    """Return the mean of the squared differences between predictions and targets."""
    errors = [(prediction - target) ** 2 for prediction, target in zip(predictions, targets, strict=True)]
    return sum(errors) / len(errors)


def clear_gradients(of: Iterable[Value]) -> None:
    """Set the gradient of every parameter to 0."""
    for parameter in of:
        parameter.grad = 0.0


def descend(of: Iterable[Value], rate: float) -> None:
    """Move every parameter against its gradient, by rate times gradient."""
    for parameter in of:
        parameter.data -= rate * parameter.grad


def train_step(
    layers: Sequence[Layer], samples: Sequence[Sequence[float]], targets: Sequence[float], rate: float
) -> float:
    """Do one step of gradient descent on all samples. Return the loss before the step, as a plain number."""
    trained = parameters(layers)
    clear_gradients(trained)
    predictions = [network(layers, sample)[0] for sample in samples]
    loss = squared_error(predictions, targets)
    loss.backward()
    descend(trained, rate)
    return loss.data


def fit(
    layers: Sequence[Layer], samples: Sequence[Sequence[float]], targets: Sequence[float], rate: float, steps: int
) -> list[float]:
    """Do that many steps. Return the loss before each of them."""
    return [train_step(layers, samples, targets, rate) for _ in range(steps)]
