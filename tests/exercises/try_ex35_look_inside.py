"""ex35: two heads, a share and a score, by hand."""

from autograder.checks import step

OUTPUT = [[[1, 2, 3, 4], [5, 6, 5, 8]]]


@step(
    "by 0",
    """
    [1 2 0 0]
    [5 6 0 0]
    """,
)
def step_zero(impl, given):
    return impl.without_heads(given.tensor(OUTPUT), [1], 2)[0]


@step(
    "by the mean",
    """
    [1 2 4 6]
    [5 6 4 6]
    """,
)
def step_mean(impl, given):
    return impl.without_heads(given.tensor(OUTPUT), [1], 2, with_mean=True)[0]


@step("recovered", "0.75")
def step_recovered(impl, given):
    return impl.recovered(given.tensor([4]), given.tensor([5]), given.tensor([1]))[0]


@step("induction score", "0.6")
def step_induction(impl, given):
    weights = given.torch.zeros(1, 1, 6, 6)
    for position, weight in ((3, 0.9), (4, 0.6), (5, 0.3)):
        weights[0, 0, position, position - 2] = weight
    return impl.induction_scores(weights, 3)[0]
