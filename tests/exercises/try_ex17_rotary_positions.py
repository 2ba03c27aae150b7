"""ex17: one vector of two pairs, at several positions."""

from autograder.checks import step


def turned(impl, given, *positions):
    rope = impl.RotaryPositionalEmbedding(100.0, 4, 8)
    x = given.tensor([[1, 0, 3, 4]] * len(positions))
    return rope(x, token_positions=given.tensor(positions, dtype="int64"))


@step(
    "at positions 0, 1 and 2",
    """
    (1, 0, 3, 4)
    (0.5403, 0.8415, 2.5857, 4.2795)
    (-0.4161, 0.9093, 2.1455, 4.5163)
    """,
)
def step_turned(impl, given):
    return turned(impl, given, 0, 1, 2)


@step("score, positions 0 and 2", "24.086")
def step_score(impl, given):
    query, key = turned(impl, given, 0, 2)
    return (query * key).sum()


@step("score, positions 5 and 7", "24.086")
def step_moved(impl, given):
    query, key = turned(impl, given, 5, 7)
    return (query * key).sum()
