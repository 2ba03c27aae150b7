"""ex04: the masks of two sentences, True as x."""

from autograder.checks import step

IDS = [[1, 5, 9, 2], [1, 7, 2, 0]]


@step(
    "padding",
    """
    [x x x x]
    [x x x .]
    """,
)
def step_padding(impl, given):
    return impl.create_padding_mask(given.tensor(IDS, "int64"))[:, 0, 0]


@step(
    "look-ahead",
    """
    [x . . .]
    [x x . .]
    [x x x .]
    [x x x x]
    """,
)
def step_look_ahead(impl, given):
    return impl.create_look_ahead_mask(4)


@step(
    "target, sentence 0",
    """
    [x . . .]
    [x x . .]
    [x x x .]
    [x x x x]
    """,
)
def step_first(impl, given):
    return impl.create_target_mask(given.tensor(IDS, "int64"))[0, 0]


@step(
    "target, sentence 1",
    """
    [x . . .]
    [x x . .]
    [x x x .]
    [x x x .]
    """,
)
def step_second(impl, given):
    return impl.create_target_mask(given.tensor(IDS, "int64"))[1, 0]
