"""ex34: the image, the patch of two channels and the positions of the lesson."""

from autograder.checks import step


def grey(given):
    return given.tensor([[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]]])


@step(
    "patches",
    """
    [0 1 4 5]
    [2 3 6 7]
    [8 9 12 13]
    [10 11 14 15]
    """,
)
def step_patches(impl, given):
    return impl.patchify(grey(given), 2)[0]


@step("patch of two channels", "[1 2 3 4 5 6 7 8]")
def step_channels(impl, given):
    return impl.patchify(given.tensor([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]), 2)[0, 0]


@step(
    "the image again",
    """
    [0 1 2 3]
    [4 5 6 7]
    [8 9 10 11]
    [12 13 14 15]
    """,
)
def step_back(impl, given):
    patches = [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]
    return impl.unpatchify(given.tensor(patches), 2, (2, 2))[0, 0]


def resized(impl, given):
    return impl.resize_positions(given.tensor([[[9], [1], [2], [3], [4]]]), (2, 2), (2, 4))[0, :, 0]


@step("class token's position", "9")
def step_class(impl, given):
    return resized(impl, given)[0]


@step(
    "positions of 2 × 4",
    """
    [0.895 1.227 1.773 2.105]
    [2.895 3.227 3.773 4.105]
    """,
)
def step_positions(impl, given):
    return resized(impl, given)[1:].reshape(2, 4)
