"""ex25: two tokens and three experts, in numbers. Expert i writes feature i alone, so the output shows the weights."""

from autograder.checks import step

TOKENS = [[2, 1, 0], [0, 2, 1]]


def mixed(impl, given):
    ones = given.tensor([[1, 1, 1]])
    state = {"router.weight": given.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1]])}
    for i in range(3):
        state[f"experts.{i}.w1.weight"] = ones
        state[f"experts.{i}.w3.weight"] = ones / 8.57322  # silu(3) · 3, the gate times the value
        state[f"experts.{i}.w2.weight"] = given.tensor([[float(row == i)] for row in range(3)])
    return given.fill(impl.MixtureOfExperts(3, 1, 3, 2), state)(given.tensor(TOKENS))


@step("weights of the experts", "[0.731 0.269 0]\n[0 0.731 0.269]")
def step_weights(impl, given):
    return mixed(impl, given)[0]


@step("balance loss", "1.091")
def step_loss(impl, given):
    return mixed(impl, given)[1]
