"""ex30: a pair, a group, a token and a distance, by hand."""

from autograder.checks import step


@step("DPO loss", "0.474")
def step_dpo(impl, given):
    numbers = [given.tensor([number]) for number in (-2.0, -3.0, -2.5, -2.5)]
    return impl.dpo_loss(*numbers, 0.5)


@step("advantages", "[0.866 -0.866 -0.866 0.866]")
def step_advantages(impl, given):
    return impl.group_advantages(given.tensor([[1, 0, 0, 1]]))[0]


@step("not divided", "[0.5 -0.5 -0.5 0.5]")
def step_centered(impl, given):
    return impl.group_advantages(given.tensor([[1, 0, 0, 1]]), normalize=False)[0]


def token(impl, given, advantage):
    """Return the loss of one token that became 1.5 times as likely."""
    mask = given.torch.tensor([[True]])
    return impl.clipped_loss(given.tensor([[1.5]]).log(), given.tensor([[0.0]]), given.tensor([advantage]), mask)


@step("clipped", "-1.2")
def step_clipped(impl, given):
    return token(impl, given, 1.0)


@step("not clipped", "1.5")
def step_not_clipped(impl, given):
    return token(impl, given, -1.0)


@step("distance", "0.107")
def step_distance(impl, given):
    return impl.kl_estimate(given.tensor([-1.0]), given.tensor([-1.5]))[0]
