"""ex04: which token may look at which."""

from autograder.checks import Like, SameInputs, check, picture

PADDING = "create_padding_mask"
LOOK_AHEAD = "create_look_ahead_mask"
TARGET = "create_target_mask"
ON_THE_DEVICE = Like(free=("look-ahead mask", "target mask"))  # other checks judge their values


def sentences(given, length, pad_idx=0):
    """Return ids (B, length): sentences of different lengths, each filled up with padding on the right."""
    ids = given.integers(0, given.size("V"), given.size("B"), length)
    ids[ids == pad_idx] = pad_idx + 1
    ids[:, 0] = 1
    for row, end in enumerate(given.normal(length - 2).argsort()[: len(ids) - 1].tolist(), 1):
        ids[row, end + 2 :] = pad_idx  # no two sentences end alike
    return ids


def scattered(given, length, pad_idx):
    """Return ids (B, length) with the padding anywhere, and ids below and above it."""
    ids = given.integers(pad_idx + 1, given.size("V"), given.size("B"), length)
    ids[:, ::3] = given.integers(0, pad_idx, *ids[:, ::3].shape)
    return ids.masked_fill(given.mask(*ids.shape, share=0.3), pad_idx)


def content(mask):
    """Observe where a mask is True. Other checks judge its dtype and its axes of size 1."""
    return mask.squeeze() != 0 if hasattr(mask, "squeeze") else mask


def form_of(mask):
    """Observe the form of a mask alone: with every element set to True."""
    return mask.new_ones(mask.shape) if hasattr(mask, "new_ones") else mask


FORM = Like(likeness=0.2)  # other checks judge the values: they may be wrong, but not made up


def any_length(given):
    """Return a length that cannot be guessed."""
    return given.number(24, 99)


def anywhere(given, length):
    """Return ids (B, length) with padding anywhere."""
    ids = given.integers(1, given.size("V"), given.size("B"), length)
    return ids.masked_fill(given.mask(*ids.shape, share=0.3), 0)


@check("the padding mask is True at real tokens, False at padding", points=3, of=PADDING)
def test_padding_tokens(impl, given):
    batches = [sentences(given, given.size("S")) for _ in range(4)]
    return {f"where mask {i} is True": content(impl.create_padding_mask(ids)) for i, ids in enumerate(batches, 1)}


@check("the padding mask is Bool (B, 1, 1, S), also for one token", points=2, of=PADDING, judge=Like())
def test_padding_form(impl, given):
    ids = anywhere(given, any_length(given))
    return {
        "mask": impl.create_padding_mask(ids),
        "mask of one token with every element set to True": form_of(impl.create_padding_mask(ids[:1, :1])),
    }


@check("the padding mask works with any padding id", points=2, of=PADDING)
def test_padding_id(impl, given):
    ids = scattered(given, given.size("S"), pad_idx=5)
    return {"where the mask is True": content(impl.create_padding_mask(ids, pad_idx=5))}


@check("padding is found at any position", points=1, of=PADDING)
def test_padding_anywhere(impl, given):
    batches = [sentences(given, given.size("S")).flip(1) for _ in range(4)]
    for ids in batches:
        ids[0, 2] = 0
    return {f"where mask {i} is True": content(impl.create_padding_mask(ids)) for i, ids in enumerate(batches, 1)}


@check("the look-ahead mask is True on and below the diagonal", points=3, of=LOOK_AHEAD)
def test_look_ahead(impl, given):
    sizes = any_length(given), given.size("T")
    return {f"mask of size {size}": content(impl.create_look_ahead_mask(size, device=given.device)) for size in sizes}


@check("the look-ahead mask is Bool (size, size)", points=2, of=LOOK_AHEAD, judge=FORM)
def test_look_ahead_form(impl, given):
    size = any_length(given)
    return {
        "mask of size 1 with every element set to True": form_of(impl.create_look_ahead_mask(1)),
        f"mask of size {size}": impl.create_look_ahead_mask(size),
    }


@check("the look-ahead mask is on the given device", points=2, of=LOOK_AHEAD, judge=FORM)
def test_look_ahead_device(impl, given):
    with given.another_device() as device:
        mask = impl.create_look_ahead_mask(any_length(given), device=device)
        return {"where the mask is True": mask != 0}


@check("the target mask blocks padding and later tokens, nothing else", points=4, of=TARGET)
def test_target(impl, given):
    batches = [sentences(given, given.size("T")) for _ in range(4)]
    return {f"where mask {i} is True": content(impl.create_target_mask(ids)) for i, ids in enumerate(batches, 1)}


@check("the target mask is Bool (B, 1, T, T), also for one token", points=2, of=TARGET, judge=FORM)
def test_target_form(impl, given):
    ids = anywhere(given, any_length(given))
    return {
        "mask": impl.create_target_mask(ids),
        "mask of one token with every element set to True": form_of(impl.create_target_mask(ids[:1, :1])),
    }


@check("the target mask works with any padding id", points=2, of=TARGET)
def test_target_id(impl, given):
    ids = scattered(given, given.size("T"), pad_idx=5)
    return {"where the mask is True": content(impl.create_target_mask(ids, pad_idx=5))}


@check("the ids are not modified", points=1, requires_any=("padding_tokens", "look_ahead"), judge=SameInputs())
def test_ids_kept(impl, given):
    S, T = given.sizes("S T")
    seq, tgt = sentences(given, S), sentences(given, T)
    impl.create_padding_mask(seq)
    impl.create_target_mask(tgt)
    return {"`seq` after the call": seq, "`tgt` after the call": tgt}


@check("new tensors are on the device of the input", points=1, trials=1, judge=ON_THE_DEVICE)
def test_device(impl, given):
    seq, tgt, length = sentences(given, given.size("S")), sentences(given, given.size("T")), any_length(given)

    def run(device):
        return {
            "padding mask": impl.create_padding_mask(seq.to(device)),
            "look-ahead mask": impl.create_look_ahead_mask(length, device=device),
            "target mask": impl.create_target_mask(tgt.to(device)),
        }

    here = run("cpu")  # a tensor kept from this call must not be used on the other device
    with given.another_device() as device:
        return {name: [there, here[name]] for name, there in run(device).items()}


SENTENCE = ["<SOS>", "the", "cat", "sleeps", "<EOS>", "<PAD>", "<PAD>"]


@picture("look-ahead mask: looks back only", rows="who looks", columns="who is looked at")
def picture_look_ahead(impl, given):
    return impl.create_look_ahead_mask(len(SENTENCE), device=given.device), SENTENCE, []


@picture("target mask: never looks at padding", rows="who looks", columns="who is looked at")
def picture_target(impl, given):
    ids = given.tensor([[1, 4, 5, 6, 2, 0, 0]], "int64")
    return impl.create_target_mask(ids)[0, 0], SENTENCE, []
