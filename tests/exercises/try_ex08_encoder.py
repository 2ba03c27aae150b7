"""ex08: two tokens through one block, whose sublayers are the mean of the tokens and a ReLU."""

from autograder.checks import step

X = [[3, 0, 0], [1, 2, 3]]


def block_of(impl, given):
    """Return a block with simple sublayers, and a function that calls it with both tokens."""
    nn = given.torch.nn

    class Mean(nn.Module):
        def forward(self, query, key=None, value=None, mask=None):
            return query.mean(dim=1, keepdim=True).expand_as(query)

    block = impl.EncoderBlock(3, 1, 3, 0.0)
    block.attention, block.feed_forward = Mean(), nn.ReLU()
    block.eval()
    return block, lambda: block(given.tensor([X]))


@step(
    "attention: the mean",
    """
    [2.000 1.000 1.500]
    [2.000 1.000 1.500]
    """,
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
)
def step_norm_1(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "layer_norm_1", call)


@step(
    "feed-forward: relu",
    """
    [1.405 0.000 0.000]
    [0.000 0.000 1.414]
    """,
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
)
def step_residual_2(impl, given):
    block, call = block_of(impl, given)
    return given.into(block, "layer_norm_2", call)


@step(
    "layer norm 2",
    """
    [ 1.411 -0.790 -0.621]
    [-0.707 -0.707  1.414]
    """,
)
def step_norm_2(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "layer_norm_2", call)
