"""ex09: two target tokens read three source tokens. The other sublayers add nothing."""

from autograder.checks import step

X = [[1, 0, 1], [0, 1, 0]]
SOURCE = [[2, 0, 0], [0, 2, 2], [4, 4, 4]]
NONE, ONE = [[0, 0, 0]] * 3, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

WEIGHTS = {
    **{f"self_attention.w_{name}.weight": NONE for name in "qkvo"},
    **{f"cross_attention.w_{name}.weight": ONE for name in "qkvo"},
    **{f"{attention}.w_o.bias": NONE[0] for attention in ("self_attention", "cross_attention")},
    **{f"feed_forward.linear_{number}.weight": NONE for number in (1, 2)},
    **{f"feed_forward.linear_{number}.bias": NONE[0] for number in (1, 2)},
    **{f"layer_norm_{number}.alpha": [1, 1, 1] for number in (1, 2, 3)},
    **{f"layer_norm_{number}.bias": NONE[0] for number in (1, 2, 3)},
}


def block_of(impl, given):
    """Return a block, and a function that calls it, without the norms around the other sublayers."""
    identity = given.torch.nn.Identity
    state = {name: given.tensor(values) for name, values in WEIGHTS.items()}
    block = given.fill(impl.DecoderBlock(3, 1, 3, 0.0), state)
    parts = {"layer_norm_1": identity(), "layer_norm_3": identity()}
    inputs = given.tensor([X]), given.tensor([SOURCE]), given.tensor([[[[1, 1, 0]]]], "bool")
    return block, lambda: given.instead(block, parts, lambda: block(*inputs, None))


@step(
    "weights",
    """
    [0.500 0.500 0.000]
    [0.240 0.760 0.000]
    """,
    inside=True,
)
def step_weights(impl, given):
    block, call = block_of(impl, given)
    return given.unseen if call() is given.unseen else block.cross_attention.attention_weights[0, 0]


@step(
    "read",
    """
    [1.000 1.000 1.000]
    [0.479 1.521 1.521]
    """,
    inside=True,
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
    inside=True,
)
def step_residual(impl, given):
    block, call = block_of(impl, given)
    return given.into(block, "layer_norm_2", call)


@step(
    "layer norm, the result",
    """
    [ 0.707 -1.414 0.707]
    [-1.233  1.216 0.017]
    """,
)
def step_norm(impl, given):
    return block_of(impl, given)[1]()
