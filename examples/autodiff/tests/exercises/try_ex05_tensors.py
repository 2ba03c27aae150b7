"""ex05: two products, by hand."""

import numpy as np

from autograder.checks import step

X = [[1, 2], [3, 4]]


def elementwise(impl):
    """Return x and b after the backward pass of their product."""
    x, b = impl.Tensor(X), impl.Tensor([10, 20])
    (x * b).backward(np.ones((2, 2)))
    return x, b


def matrix_product(impl):
    """Return x and w after the backward pass of their product."""
    x, w = impl.Tensor(X), impl.Tensor([[1], [2]])
    (x @ w).backward(np.array([[1.0], [3.0]]))
    return x, w


@step("y = x * b", "[10 40]\n[30 80]")
def step_product(impl, given):
    return (impl.Tensor(X) * impl.Tensor([10, 20])).data


@step("gradient of x", "[10 20]\n[10 20]")
def step_stretched(impl, given):
    return elementwise(impl)[0].grad


@step("gradient of b", "[4 6]")
def step_bias(impl, given):
    return elementwise(impl)[1].grad


@step("y = x @ w", "[5]\n[11]")
def step_matrix_product(impl, given):
    return (impl.Tensor(X) @ impl.Tensor([[1], [2]])).data


@step("gradient of w", "[10]\n[14]")
def step_weights(impl, given):
    return matrix_product(impl)[1].grad


@step("gradient of x, x @ w", "[1 2]\n[3 6]")
def step_inputs(impl, given):
    return matrix_product(impl)[0].grad
