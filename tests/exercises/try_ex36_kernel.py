"""ex36: a row of three numbers, a product and a fused layer, by hand."""

import math

from autograder.checks import step


@step("a softmax", "[0.25 0.5 0.25]")
def step_softmax(impl, given):
    return impl.softmax(given.tensor([[0.0, math.log(2.0), 0.0]]))[0]


@step("number [19, 19]", "40")
def step_product(impl, given):
    return impl.matmul(given.torch.ones(20, 40), given.torch.ones(40, 20))[19, 19]


@step("gelu(0) and gelu(1)", "[0 0.8413]")
def step_gelu(impl, given):
    return impl.linear_gelu(given.tensor([[1.0]]), given.tensor([[0.0], [1.0]]), given.tensor([0.0, 0.0]))[0]
