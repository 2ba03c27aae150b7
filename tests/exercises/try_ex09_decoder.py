"""ex09: two target tokens read three source tokens. The other sublayers add nothing."""

from autograder.checks import step

X = [[1, 0, 1], [0, 1, 0]]
SOURCE = [[2, 0, 0], [0, 2, 2], [4, 4, 4]]
IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def block_of(impl, given):
    """Return a block whose cross-attention changes nothing, and a function that calls it."""
    nn = given.torch.nn

    class Nothing(nn.Module):
        def forward(self, x, *others, **more):
            return x * 0

    block = impl.DecoderBlock(3, 1, 3, 0.0)
    block.self_attention, block.layer_norm_1 = Nothing(), nn.Identity()
    block.feed_forward, block.layer_norm_3 = Nothing(), nn.Identity()
    state = {f"cross_attention.w_{name}.weight": given.tensor(IDENTITY) for name in "qkvo"}
    given.fill(block, {**state, "cross_attention.w_o.bias": given.tensor([0, 0, 0])})
    mask = given.tensor([[[[1, 1, 0]]]], "bool")
    return block, lambda: block(given.tensor([X]), given.tensor([SOURCE]), mask, None)


@step(
    "weights",
    """
    [0.500 0.500 0.000]
    [0.240 0.760 0.000]
    """,
)
def step_weights(impl, given):
    block, call = block_of(impl, given)
    call()
    return block.cross_attention.attention_weights[0, 0]


@step(
    "read",
    """
    [1.000 1.000 1.000]
    [0.479 1.521 1.521]
    """,
)
def step_read(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "cross_attention", call)


@step(
    "x + read",
    """
    [2.000 1.000 2.000]
    [0.479 2.521 1.521]
    """,
)
def step_residual(impl, given):
    block, call = block_of(impl, given)
    return given.into(block, "layer_norm_2", call)


@step(
    "layer norm",
    """
    [ 0.707 -1.414 0.707]
    [-1.233  1.216 0.017]
    """,
)
def step_norm(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "layer_norm_2", call)
