"""ex10: the masks of two sentences, and the way from the decoder to a word."""

from autograder.checks import step

SOURCE = [[4, 5, 6, 2], [7, 2, 0, 0]]
TARGET = [[1, 4, 5, 6], [1, 7, 0, 0]]


def transformer(impl, given):
    """Return a model of two features and three words, and the masks that its decoder gets."""
    nn = given.torch.nn
    masks = []

    class Source(nn.Module):
        def forward(self, ids, mask=None):
            return given.tensor([[[0, 0]]])

    class Decoded(nn.Module):
        def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
            masks[:] = [src_mask, tgt_mask]
            return given.tensor([[[1.0, -0.5]]])

    model = impl.Transformer(8, 3, 2, 1, 2, 0, 0, 0.0, 4)
    model.encoder, model.decoder = Source(), Decoded()
    state = {"output_projection.weight": [[1, 0], [0, 1], [1, -1]], "output_projection.bias": [0, 1, 0]}
    return given.fill(model, {name: given.tensor(values) for name, values in state.items()}), masks


def called(impl, given, name="forward"):
    """Return what the model returns at one position, its mask for the source, and that for the target."""
    model, masks = transformer(impl, given)
    method = model if name == "forward" else getattr(model, name)
    result = method(given.tensor(SOURCE, "int64"), given.tensor(TARGET, "int64"))
    return result[0, 0], *masks


@step(
    "src_mask",
    """
    [1 1 1 1]
    [1 1 0 0]
    """,
)
def step_src_mask(impl, given):
    return called(impl, given)[1][:, 0, 0]


@step(
    "tgt_mask, sentence 0",
    """
    [1 0 0 0]
    [1 1 0 0]
    [1 1 1 0]
    [1 1 1 1]
    """,
)
def step_tgt_mask_0(impl, given):
    return called(impl, given)[2][0, 0]


@step(
    "tgt_mask, sentence 1",
    """
    [1 0 0 0]
    [1 1 0 0]
    [1 1 0 0]
    [1 1 0 0]
    """,
)
def step_tgt_mask_1(impl, given):
    return called(impl, given)[2][1, 0]


@step("logits of the words", "1.0 0.5 1.5")
def step_logits(impl, given):
    return called(impl, given)[0]


@step("probabilities", "0.307 0.186 0.506")
def step_probabilities(impl, given):
    return called(impl, given, "forward_with_softmax")[0]
