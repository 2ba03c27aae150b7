"""ex11: a model without a single block, and the mask of a model with one."""

from autograder.checks import step


def model_of(impl, given):
    """Return a model without blocks, and a function that calls it with both ids."""
    model = impl.LanguageModel(3, 2, 1, 2, 0, 4, 0.0)
    state = {
        "embedding.embedding.weight": given.tensor([[1, 0], [0, 1], [1, 1]]),
        "output_projection.weight": given.tensor([[1, 0], [0, 1], [1, -1]]),
        "output_projection.bias": given.tensor([0, 0, 1]),
    }
    given.fill(model, state)
    return model, lambda: model(given.tensor([[0, 2]], "int64"))


@step(
    "√2 · row",
    """
    [1.414 0.000]
    [1.414 1.414]
    """,
)
def step_embedding(impl, given):
    model, call = model_of(impl, given)
    return given.out_of(model, "embedding", call)


@step(
    "sum with the position",
    """
    [1.414 1.000]
    [2.256 1.955]
    """,
)
def step_sum(impl, given):
    model, call = model_of(impl, given)
    return given.into(model, "output_projection", call)


@step(
    "logits",
    """
    [1.414 1.000 1.414]
    [2.256 1.955 1.301]
    """,
)
def step_logits(impl, given):
    return model_of(impl, given)[1]()


@step(
    "softmax of your logits",
    """
    [0.376 0.248 0.376]
    [0.471 0.348 0.181]
    """,
)
def step_probabilities(impl, given):
    return given.torch.softmax(model_of(impl, given)[1](), dim=-1)


def mask_of_a_block(impl, given, *given_mask):
    """Return the mask that a block gets for three tokens."""
    masks = []

    class Block(given.torch.nn.Module):
        def forward(self, x, mask=None):
            masks.append(mask)
            return x

    model = impl.LanguageModel(3, 2, 1, 2, 1, 4, 0.0).eval()
    model.layers[0] = Block()
    model(given.tensor([[0, 1, 2]], "int64"), *given_mask)
    return masks[0].reshape(3, 3)


@step(
    "causal mask of a block",
    """
    [1 0 0]
    [1 1 0]
    [1 1 1]
    """,
)
def step_causal(impl, given):
    return mask_of_a_block(impl, given)


@step(
    "causal and given mask",
    """
    [0 0 0]
    [0 1 0]
    [0 1 1]
    """,
)
def step_both(impl, given):
    return mask_of_a_block(impl, given, given.tensor([[[[0, 1, 1]]]], "bool"))
