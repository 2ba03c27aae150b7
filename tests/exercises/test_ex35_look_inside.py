"""ex35: tools to look inside a model. The models are small, and made of linear layers with known weights."""

from autograder.checks import Like, Raises, SameInputs, check, picture

LENS, HEADS, PATCH = "logit_lens", "without_heads", "patched"
BACK, INDUCTION = "recovered", "induction_scores"
COMPUTED = ("lens", "heads", "patch", "recovered", "induction")
ONE_TOKEN = "output for one token, and for all"
ONE_HEAD = "score of one head, and of all"
AGREEING = Like(tolerance=1e-4, free=(ONE_TOKEN, ONE_HEAD))


def doubled_norm(x):
    """Return vectors of length 2: a norm that is no linear map."""
    return 2.0 * x / x.pow(2).sum(dim=-1, keepdim=True).sqrt()


def states(given):
    """Return hidden states (L, B, T, D) and a matrix (V, D)."""
    B, T, D, V, G = given.sizes("B T D V G")
    return given.normal(G + 1, B, T, D, scale=3.0), given.normal(V, D)


@check("every layer's states become logits by the norm and the last matrix", points=4, of=LENS)
def test_lens(impl, given):
    hidden, matrix = states(given)
    return {"logits": impl.logit_lens(hidden, doubled_norm, matrix)[:, :2]}


@check("each layer is read alone, and so is one token", points=1, of=LENS, judge=AGREEING, requires_any=("lens",))
def test_lens_layers(impl, given):
    hidden, matrix = states(given)
    whole = impl.logit_lens(hidden, doubled_norm, matrix)
    return {
        "second layer, among others and alone": [whole[1], impl.logit_lens(hidden[1:2], doubled_norm, matrix)[0]],
        ONE_TOKEN: [impl.logit_lens(hidden[:, :1, :1], doubled_norm, matrix), whole[:, :1, :1]],
    }


def side_by_side(given, heads, dtype="float32"):
    """Return outputs (B, T, D) of some heads, with a mean that is not 0."""
    B, T, K = given.sizes("B T K")
    return given.normal(B, T, heads * K, shift=1.0, dtype=dtype)


def two_of(given, heads):
    return sorted(given.distinct(0, heads, 2))


@check("the features of the chosen heads become 0, and the others stay", points=4, of=HEADS)
def test_heads(impl, given):
    heads = given.size("G") + 2
    return {"output": impl.without_heads(side_by_side(given, heads), two_of(given, heads), heads)}


@check(
    "with_mean: they become their mean over sentences and positions",
    points=3,
    of=HEADS,
    requires_any=("heads",),
)
def test_heads_mean(impl, given):
    heads = given.size("G") + 2
    output, chosen = side_by_side(given, heads), two_of(given, heads)
    found = impl.without_heads(output, chosen, heads, with_mean=True)
    K = given.size("K")
    return {"new features of the chosen heads": given.torch.stack([found[..., h * K : (h + 1) * K] for h in chosen])}


@check(
    "without a head to replace, nothing changes, for one token too",
    points=1,
    of=HEADS,
    judge=AGREEING,
    requires_any=("heads",),
)
def test_heads_none(impl, given):
    heads = given.size("G") + 2
    output = side_by_side(given, heads)
    half = side_by_side(given, heads, "bfloat16")
    return {
        "none replaced, and the input": [impl.without_heads(output.clone(), [], heads), output],
        "dtype for bfloat16": str(impl.without_heads(half, [], heads).dtype),
        ONE_TOKEN: [impl.without_heads(output[:1, :1].clone(), (), heads), output[:1, :1]],
    }


def refused(impl, given, first, head, heads):
    """Observe the exception for a head that is not there; none if even the `first` of them is accepted."""
    output = side_by_side(given, heads)

    def call():
        try:
            impl.without_heads(output, [0, first], heads)
        except ValueError:
            impl.without_heads(output, [0, head], heads)

    return given.raises(call, head)


@check(
    "a head that is not there is a ValueError with its number",
    points=1,
    of=HEADS,
    judge=Raises(),
    requires_any=("heads",),
)
def test_heads_refused(impl, given):
    heads = given.size("G") + 2
    return refused(impl, given, heads, heads + given.number(1, 5), heads)


@check("a head below 0 is a ValueError too", points=1, of=HEADS, judge=Raises(), requires_any=("heads",))
def test_heads_negative(impl, given):
    return refused(impl, given, -1, -given.number(2, 4), given.size("G") + 2)


def small_model(given):
    """Return a model of ids with an inner layer to patch, and that layer: positions mix after it."""
    torch = given.torch
    T, D, F, V = given.sizes("T D F V")

    class Mixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(V, D)
            self.inner = torch.nn.Linear(D, F)
            self.mix = torch.nn.Linear(T, T, bias=False)
            self.head = torch.nn.Linear(F, 3)

        def forward(self, ids):
            if ids.size(-1) != T:
                raise ValueError(f"texts have {T} tokens")
            x = torch.relu(self.inner(self.table(ids)))
            return self.head(torch.tanh(self.mix(x.transpose(-2, -1)).transpose(-2, -1)))

    model = Mixed()
    shapes = {"table.weight": (V, D), "inner.weight": (F, D), "inner.bias": (F,), "mix.weight": (T, T)}
    return given.load(model, {**shapes, "head.weight": (3, F), "head.bias": (3,)}), model.inner


def texts(given):
    """Return two batches of ids (B, T)."""
    B, T, V = given.sizes("B T V")
    return given.integers(0, V, B, T), given.integers(0, V, B, T)


@check("the corrupted run gets one activation of the clean run", points=5, of=PATCH)
def test_patch(impl, given):
    (model, inner), (clean, corrupted) = small_model(given), texts(given)
    return {"output": impl.patched(model, inner, clean, corrupted, given.number(1, given.size("T") - 1))}


@check("no hook stays in the model, nor another mode", points=2, of=PATCH, judge=AGREEING, requires_any=("patch",))
def test_patch_hooks(impl, given):
    (model, inner), (clean, corrupted) = small_model(given), texts(given)
    before = model(corrupted).detach()
    modes = []
    for training in (True, False):
        model.train(training)
        impl.patched(model, inner, clean, corrupted, 1)
        modes.append([part.training for part in (model, inner)])
    return {"output of the model, afterwards and before": [model(corrupted).detach(), before], "in train mode": modes}


@check("no hook stays after an exception", points=1, of=PATCH, judge=AGREEING, requires_any=("patch",))
def test_patch_exception(impl, given):
    (model, inner), (clean, corrupted) = small_model(given), texts(given)
    before, raised = model(corrupted).detach(), []
    for first, second in ((clean, corrupted[:, 1:]), (clean[:, 1:], corrupted)):
        try:
            impl.patched(model, inner, first, second, 1)
            raised.append(False)
        except ValueError:
            raised.append(True)
    hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())
    return {
        "the exception came through": raised,
        "output, afterwards and before": [model(corrupted).detach(), before],
        "hooks afterwards": hooks,
    }


@check("what others keep of the runs stays as it was", points=1, of=PATCH, judge=AGREEING, requires_any=("patch",))
def test_patch_in_place(impl, given):
    (model, inner), (clean, corrupted) = small_model(given), texts(given)
    kept = []
    handle = inner.register_forward_hook(lambda *seen: kept.append(seen[-1]))
    impl.patched(model, inner, clean, corrupted, 1)
    model(corrupted)
    handle.remove()
    return {"output of the module for corrupted, kept in the patched run and in a plain one": kept[-2:]}


@check("no gradient is computed, also for one text", points=1, of=PATCH, requires_any=("patch",))
def test_patch_gradient(impl, given):
    (model, inner), (clean, corrupted) = small_model(given), texts(given)
    found = impl.patched(model, inner, clean, corrupted, 2)
    one = impl.patched(model.double(), inner, clean[:1], corrupted[:1], 2)
    return {"needs a gradient": found.requires_grad, "output": found[:1], "output for one text, in float64": one}


def three(given):
    """Return numbers (B, V) of a patched, a clean and a corrupted run; the way goes up or down."""
    B, V = given.sizes("B V")
    signs = given.integers(0, 2, B, V) * 2 - 1
    return signs * given.normal(B, V), signs * given.normal(B, V, shift=3.0), signs * given.normal(B, V, shift=-3.0)


@check("the share is the way that was brought back, of the whole way", points=3, of=BACK)
def test_recovered(impl, given):
    return {"share": impl.recovered(*three(given))}


@check(
    "where both runs agree, nothing is brought back, of one number too", points=1, of=BACK, requires_any=("recovered",)
)
def test_recovered_nothing(impl, given):
    patched, clean, corrupted = three(given)
    corrupted[:, ::3] = clean[:, ::3]
    return {
        "share, a third of the numbers being equal": impl.recovered(patched, clean, corrupted),
        "share of one number": impl.recovered(*(run[:1, :1] for run in (patched, clean, corrupted))),
    }


def attention(given):
    """Return weights (B, H, T, T) of texts that repeat themselves, and the period."""
    B, H, period = given.size("B"), given.size("G") + 1, given.number(3, 6)
    T = 2 * period + given.number(1, 4)
    return given.normal(B, H, T, T, scale=2.0).softmax(dim=-1), period


@check("a score is the mean weight on the token after the last occurrence", points=4, of=INDUCTION)
def test_induction(impl, given):
    return {"scores of each head": impl.induction_scores(*attention(given))}


@check(
    "only positions that have an earlier occurrence count, also in one head",
    points=1,
    of=INDUCTION,
    judge=AGREEING,
    requires_any=("induction",),
)
def test_induction_later(impl, given):
    weights, period = attention(given)
    other = weights.clone()
    other[:, :, :period] = other[:, :, :period].flip(-1)
    first = impl.induction_scores(weights, period).repeat(3)
    return {
        "scores, and with other weights of the first period": [impl.induction_scores(other, period).repeat(3), first],
        ONE_HEAD: [
            impl.induction_scores(weights[:1, :1], period),
            impl.induction_scores(weights[:1], period)[:1],
        ],
    }


@check(
    "new tensors are on the device of the input",
    points=1,
    trials=1,
    judge=Like(tolerance=1e-4, free=(PATCH, BACK, INDUCTION)),
    requires_any=COMPUTED,
)
def test_device(impl, given):
    hidden, matrix = states(given)
    heads = given.size("G") + 2
    output, numbers, (weights, period) = side_by_side(given, heads), three(given), attention(given)
    (model, inner), both = small_model(given), texts(given)

    def results(*tensors):
        hidden, matrix, output, weights, clean, corrupted, *numbers = tensors
        return {
            PATCH: impl.patched(model.to(clean.device), inner, clean, corrupted, 1),
            LENS: impl.logit_lens(hidden, doubled_norm, matrix),
            HEADS: impl.without_heads(output, [1], heads, with_mean=True),
            f"{HEADS}, by 0": impl.without_heads(output, [0], heads),
            BACK: impl.recovered(*numbers),
            INDUCTION: impl.induction_scores(weights, period),
        }

    tensors = (hidden, matrix, output, weights, *both, *numbers)
    here = results(*tensors)
    with given.another_device() as device:
        there = results(*(tensor.to(device) for tensor in tensors))
        return {name: [there[name], here[name]] for name in here}


@check("the inputs are not modified", points=1, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    hidden, matrix = states(given)
    heads = given.size("G") + 2
    output, numbers, (weights, period) = side_by_side(given, heads), three(given), attention(given)
    impl.logit_lens(hidden, doubled_norm, matrix)
    for with_mean in (True, False):
        impl.without_heads(output, [1], heads, with_mean=with_mean)
    impl.recovered(*numbers)
    impl.induction_scores(weights, period)
    return {
        "states": hidden,
        "matrix": matrix,
        "outputs of heads": output,
        "numbers": list(numbers),
        "weights": weights,
    }


@picture("two heads of four are replaced by their mean", rows="position", columns="feature")
def picture_heads(impl, given):
    waves = given.torch.sin(given.torch.arange(6)[:, None] * (1 + given.torch.arange(12)) / 3.0)
    return (
        impl.without_heads(waves[None], [1, 3], 4, with_mean=True)[0],
        [str(i) for i in range(6)],
        [str(i) for i in range(12)],
    )
