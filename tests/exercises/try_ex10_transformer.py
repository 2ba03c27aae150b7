"""ex10: the masks of two sentences, and the way from the decoder to a word."""

from autograder.checks import step

SOURCE = [[4, 5, 6, 2], [7, 2, 0, 0]]
TARGET = [[1, 4, 5, 6], [1, 7, 0, 0]]


def called(impl, given, name="forward"):
    """Return what the model returns at one position, and the masks that its decoder gets.

    It has two features and three words. Encoder and decoder are replaced by modules that return known vectors.
    """
    nn = given.torch.nn
    masks = []

    class Source(nn.Module):
        def forward(self, ids, mask=None):
            return given.tensor([[[0, 0]]])

    class Decoded(nn.Module):
        def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
            masks[:] = [src_mask, tgt_mask]
            return given.tensor([[[1.0, -0.5]]])

    model = impl.Transformer(8, 3, 2, 1, 2, 0, 0, 0.0, 4).eval()
    if not isinstance(getattr(model, "output_projection", None), nn.Linear):
        return (given.unseen,) * 3
    with given.torch.no_grad():
        model.output_projection.weight[:] = given.tensor([[1, 0], [0, 1], [1, -1]])
        model.output_projection.bias[:] = given.tensor([0, 1, 0])
    parts = {"encoder": Source(), "decoder": Decoded()}
    method = model if name == "forward" else getattr(model, name)
    inputs = given.tensor(SOURCE, "int64"), given.tensor(TARGET, "int64")
    result = given.instead(model, parts, lambda: method(*inputs))
    return result, *(masks if result is not given.unseen else [given.unseen] * 2)


def whole(given, mask):
    """Return a mask for every sentence, query and key (B, T, S)."""
    if not isinstance(mask, given.torch.Tensor):
        return mask
    mask = mask if mask.dim() == 4 else mask.unsqueeze(1)
    return mask.expand(2, 1, 4, 4)[:, 0]


def at(mask, *index):
    return mask[index] if hasattr(mask, "shape") else mask


@step(
    "src_mask",
    """
    [1 1 1 1]
    [1 1 0 0]
    """,
)
def step_src_mask(impl, given):
    return at(whole(given, called(impl, given)[1]), slice(None), 0)


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
    return at(whole(given, called(impl, given)[2]), 0)


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
    return at(whole(given, called(impl, given)[2]), 1)


@step("logits of the words", "1.0 0.5 1.5")
def step_logits(impl, given):
    return at(called(impl, given)[0], 0, 0)


@step("probabilities", "0.307 0.186 0.506")
def step_probabilities(impl, given):
    return at(called(impl, given, "forward_with_softmax")[0], 0, 0)
