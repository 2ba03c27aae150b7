"""ex22: a block of one token, a model without a block, and what a block gets from a model with a cache."""

from autograder.checks import step


def block_of(impl, given):
    """Return the block of the lesson, and a function that calls it with its token."""
    block = impl.ModernBlock(2, 1, 1)
    same = given.tensor([[1, 0], [0, 1]])
    state = {f"attn.{name}.weight": same for name in ("q_proj", "k_proj", "v_proj", "output_proj")}
    state |= {"ln1.weight": given.tensor([1, 1]), "ln2.weight": given.tensor([1, 1])}
    state |= {"ffn.w1.weight": given.tensor([[10, 0]]), "ffn.w3.weight": given.tensor([[0, 1]])}
    state |= {"ffn.w2.weight": given.tensor([[1], [0]])}
    given.fill(block, state)
    return block, lambda: block(given.tensor([[[1, 7]]]))


@step("ln1", "[0.200 1.400]", inside=True)
def step_ln1(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "ln1", call)


@step("x + attention", "[1.200 8.400]", inside=True)
def step_sum(impl, given):
    block, call = block_of(impl, given)
    return given.into(block, "ln2", call)


@step("ln2", "[0.200 1.400]", inside=True)
def step_ln2(impl, given):
    block, call = block_of(impl, given)
    return given.out_of(block, "ln2", call)


@step("block", "[3.666 8.400]")
def step_block(impl, given):
    return block_of(impl, given)[1]()


def model_of(impl, given, *, tied=False):
    """Return the model without blocks, and a function that calls it with both ids."""
    model = impl.ModernModel(3, 8, 2, 0, 1, 1, tie_weights=tied)
    state = {
        "token_embeddings.weight": given.tensor([[1, 7], [0, 2], [1, 1]]),
        "ln_final.weight": given.tensor([1, 1]),
        "lm_head.weight": given.tensor([[1, 0], [0, 1], [1, -1]]),
    }
    if tied:
        del state["lm_head.weight"]
    given.fill(model, state)
    return model, lambda: model(given.tensor([[0, 2]], "int64"))


@step(
    "ln_final of the model",
    """
    [0.200 1.400]
    [1.000 1.000]
    """,
    inside=True,
)
def step_final(impl, given):
    model, call = model_of(impl, given)
    return given.out_of(model, "ln_final", call)


@step(
    "logits",
    """
    [0.200 1.400 -1.200]
    [1.000 1.000  0.000]
    """,
)
def step_logits(impl, given):
    return model_of(impl, given)[1]()


@step(
    "softmax of your logits",
    """
    [0.219 0.727 0.054]
    [0.422 0.422 0.155]
    """,
)
def step_probabilities(impl, given):
    return given.torch.softmax(model_of(impl, given)[1](), dim=-1)


@step("tied logits of token 0", "[10 2.8 1.6]")
def step_tied(impl, given):
    return model_of(impl, given, tied=True)[1]()[0, 0]


def handed_to_the_block(impl, given, what, **options):
    """Return the positions, or the shapes of the masks, that the only block gets in three calls with a cache."""
    calls = []

    class Block(given.torch.nn.Module):
        def forward(self, x, mask=None, token_positions=None, cache=None):
            calls.append({"positions": token_positions, "mask": mask})
            if cache is not None:
                cache.update(x[:, None], x[:, None])
            return x

    model = impl.ModernModel(3, 8, 2, 1, 1, 1, **options).eval()
    if type(model.layers[0]).__name__ != "ModernBlock":
        return given.unseen  # a block of its own may take its arguments in another form
    cache, ids = model.make_cache(), given.tensor([[0, 1, 2, 0, 1, 2, 0]], "int64")

    def call():
        with given.torch.no_grad():
            for chunk in ids.split([4, 1, 2], dim=1):
                model(chunk, cache)
        return True

    if given.instead(model.layers, {"0": Block()}, call) is given.unseen:
        return given.unseen
    handed = [arguments[what] for arguments in calls]
    if any(value is None for value in handed):
        return given.unseen  # the attention finds its positions itself, and without a window needs no mask
    if what == "mask":
        return [list(value.shape[-2:]) for value in handed]
    return given.torch.cat([value.flatten() for value in handed])


@step("positions of 3 calls", "[0 1 2 3 4 5 6]", inside=True)
def step_positions(impl, given):
    return handed_to_the_block(impl, given, "positions")


@step(
    "masks of 3 calls",
    """
    [4 4]
    [1 5]
    [2 7]
    """,
    inside=True,
)
def step_masks(impl, given):
    return handed_to_the_block(impl, given, "mask")
