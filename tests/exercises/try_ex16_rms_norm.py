"""ex16: one vector of four features."""

from autograder.checks import step


def normalized(impl, given, weight):
    norm = given.fill(impl.RMSNorm(4), {"weight": given.tensor(weight)})
    return norm(given.tensor([1, -1, 3, 5]))


@step("normalized", "(0.3333, -0.3333, 1, 1.6667)")
def step_normalized(impl, given):
    return normalized(impl, given, (1, 1, 1, 1))


@step("with weight", "(0.3333, -0.6667, 1, 0.8333)")
def step_scaled(impl, given):
    return normalized(impl, given, (1, 2, 1, 0.5))
