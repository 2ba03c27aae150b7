"""ex07: three tokens, in numbers."""

from autograder.checks import step

TOKENS = [[2, 1], [-1, 3], [1, 4]]


def network(impl, given):
    return given.fill(
        impl.FeedForwardNetwork(2, 3, dropout=0.0),
        {
            "linear_1.weight": given.tensor([[1, 0], [0, 1], [1, -1]]),
            "linear_1.bias": given.tensor([0, -1, 0.5]),
            "linear_2.weight": given.tensor([[1, 2, -1], [0, 1, 1]]),
            "linear_2.bias": given.tensor([0.5, 0]),
        },
    )


@step(
    "linear_1",
    """
    [ 2 0  1.5]
    [-1 2 -3.5]
    [ 1 3 -2.5]
    """,
)
def step_linear_1(impl, given):
    built = network(impl, given)
    return given.out_of(built, "linear_1", lambda: built(given.tensor(TOKENS)))


@step(
    "ReLU",
    """
    [2 0 1.5]
    [0 2 0]
    [1 3 0]
    """,
)
def step_relu(impl, given):
    built = network(impl, given)
    return given.into(built, "linear_2", lambda: built(given.tensor(TOKENS)))


@step(
    "linear_2: the result",
    """
    [1.0 1.5]
    [4.5 2.0]
    [7.5 3.0]
    """,
)
def step_result(impl, given):
    return network(impl, given)(given.tensor(TOKENS))
