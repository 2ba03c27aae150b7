"""ex03: one vector of four features."""

from autograder.checks import step


def normalized(impl, given, alpha, bias):
    norm = given.fill(impl.LayerNormalization(4), {"alpha": given.tensor(alpha), "bias": given.tensor(bias)})
    return norm(given.tensor([1, 2, 4, 5]))


@step("normalized", "(-1.2649, -0.6325, 0.6325, 1.2649)")
def step_normalized(impl, given):
    return normalized(impl, given, (1, 1, 1, 1), (0, 0, 0, 0))


@step("with alpha and bias", "(-1.2649, -1.2649, 1.6325, 1.6325)")
def step_scaled(impl, given):
    return normalized(impl, given, (1, 2, 1, 0.5), (0, 0, 1, 1))
