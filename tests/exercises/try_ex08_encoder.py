"""ex08: two tokens through one block, whose attention is the mean of the tokens and whose feed-forward is a ReLU."""

from autograder.checks import step

X = [[3, 0, 0], [1, 2, 3]]
NONE, ONE = [[0, 0, 0]] * 3, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

WEIGHTS = {  # equal scores make attention the mean of the tokens
    **{f"attention.w_{name}.weight": NONE for name in "qk"},
    **{f"attention.w_{name}.weight": ONE for name in "vo"},
    "attention.w_o.bias": NONE[0],
    **{f"feed_forward.linear_{number}.weight": ONE for number in (1, 2)},
    **{f"feed_forward.linear_{number}.bias": NONE[0] for number in (1, 2)},
    **{f"layer_norm_{number}.alpha": [1, 1, 1] for number in (1, 2)},
    **{f"layer_norm_{number}.bias": NONE[0] for number in (1, 2)},
}


def block_of(impl, given):
    """Return a block, and a function that calls it with both tokens."""
    state = {name: given.tensor(values) for name, values in WEIGHTS.items()}
    block = given.fill(impl.EncoderBlock(3, 1, 3, 0.0), state)
    return block, lambda: block(given.tensor([X]))


@step(
    "attention (the mean)",
    """
    [2.000 1.000 1.500]
    [2.000 1.000 1.500]
    """,
    inside=True,
)
def step_attention(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "attention", call)


@step(
    "x + attention",
    """
    [5.000 1.000 1.500]
    [3.000 3.000 4.500]
    """,
    inside=True,
)
def step_residual(impl, given):
    block, call = block_of(impl, given)
    return given.into(block, "layer_norm_1", call)


@step(
    "layer norm 1",
    """
    [ 1.405 -0.843 -0.562]
    [-0.707 -0.707  1.414]
    """,
    inside=True,
)
def step_norm_1(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "layer_norm_1", call)


@step(
    "feed-forward (relu)",
    """
    [1.405 0.000 0.000]
    [0.000 0.000 1.414]
    """,
    inside=True,
)
def step_feed_forward(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "feed_forward", call)


@step(
    "norm 1 + feed-forward",
    """
    [ 2.810 -0.843 -0.562]
    [-0.707 -0.707  2.828]
    """,
    inside=True,
)
def step_residual_2(impl, given):
    block, call = block_of(impl, given)
    return given.into(block, "layer_norm_2", call)


@step(
    "layer norm 2, the result",
    """
    [ 1.411 -0.790 -0.621]
    [-0.707 -0.707  1.414]
    """,
)
def step_norm_2(impl, given):
    return block_of(impl, given)[1]()
