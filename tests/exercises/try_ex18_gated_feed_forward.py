"""ex18: two tokens, in numbers."""

from autograder.checks import step

TOKENS = [[2, 1], [0, 0]]


def network(impl, given):
    return given.fill(
        impl.SwiGLU(2, 3),
        {
            "w1.weight": given.tensor([[1, 0], [0, -1], [1, 1]]),
            "w3.weight": given.tensor([[2, 0], [1, 1], [0, 1]]),
            "w2.weight": given.tensor([[1, 2, -1], [0, 1, 1]]),
        },
    )


@step("w1", "[2 -1 3]\n[0 0 0]", inside=True)
def step_w1(impl, given):
    built = network(impl, given)
    return given.out_of(built, "w1", lambda: built(given.tensor([TOKENS])))


@step("w3", "[4 3 1]\n[0 0 0]", inside=True)
def step_w3(impl, given):
    built = network(impl, given)
    return given.out_of(built, "w3", lambda: built(given.tensor([TOKENS])))


@step("product of gate and value", "[7.046 -0.807 2.858]\n[0 0 0]", inside=True)
def step_product(impl, given):
    built = network(impl, given)
    return given.into(built, "w2", lambda: built(given.tensor([TOKENS])))


@step("w2 (the result)", "[2.575 2.051]\n[0 0]")
def step_result(impl, given):
    return network(impl, given)(given.tensor([TOKENS]))
