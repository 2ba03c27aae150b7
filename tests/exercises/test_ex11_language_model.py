"""ex11: blocks with a causal mask, from ids to logits. `single_token` and `layers` compare all numbers. The others
judge only their claim: which tokens the logits depend on, which part gets a gradient, or whether two calls agree. They
use as many sentences as tokens, and as many as the table has rows or one less: no size is unusual there."""

from autograder.checks import Like, check, picture

CLASS = "LanguageModel"
COMPUTED = ("single_token", "causal", "layers")  # one of them passes unless nothing is computed
ALL = 1 - 1e-9  # drops everything, so nothing is random, but 1 / (1 - rate) is still finite


def within(prefix, shapes):
    return {f"{prefix}.{name}": shape for name, shape in shapes.items()}


def block_shapes(D, F):
    """Return the parameters of a block of ex08, by name."""
    shapes = {f"attention.w_{letter}.weight": (D, D) for letter in "qkvo"} | {"attention.w_o.bias": (D,)}
    shapes |= {"feed_forward.linear_1.weight": (F, D), "feed_forward.linear_1.bias": (F,)}
    shapes |= {"feed_forward.linear_2.weight": (D, F), "feed_forward.linear_2.bias": (D,)}
    for norm in ("layer_norm_1", "layer_norm_2"):
        shapes |= within(norm, {"alpha": (D,), "bias": (D,)})
    return shapes


def model_shapes(given, layers):
    """Return the parameters of a model of V words, by name."""
    V, D, F = given.sizes("V D F")
    shapes = {"embedding.embedding.weight": (V, D)}
    for i in range(layers):
        shapes |= within(f"layers.{i}", block_shapes(D, F))
    return shapes | {"output_projection.weight": (V, D), "output_projection.bias": (V,)}


def language_model(impl, given, *, layers=1, dropout=0.0, strict=False, usual=True, alike=None, dtype="float32"):
    """Return a model of V words and N positions in eval mode, with known weights, as far as it has them.

    Two checks alone want them all. In a `usual` model every alpha is 1, and the projection has the numbers of the
    table: so the logits resemble those of a model with other norms, or with one matrix for both. Word 0 has the vector
    of the word `alike`.
    """
    V, D, H, F, N = given.sizes("V D H F N")
    module, shapes = impl.LanguageModel(V, D, H, F, layers, N, dropout), model_shapes(given, layers)
    if strict or not usual:
        return given.load(module, shapes, dtype=dtype, strict=strict)
    state = {}
    for name, shape in shapes.items():
        fixed = given.tensor([float(name.endswith("alpha"))] * shape[0])
        state[name] = given.normal(*shape, scale=0.1) if len(shape) > 1 else fixed  # so every token is seen
    table = given.normal(V, D, scale=0.2)
    if alike is not None:
        table[0] = table[alike]
    state |= {"embedding.embedding.weight": table, "output_projection.weight": table}
    return given.fill(module, state, dtype=dtype, strict=False)


def at_two_scales(given, module, shapes):
    """Yield the module with scores far below -10,000 and far above 10,000, then with usual ones.

    A query that sees one key gives it all the weight, whatever the score: so both give the same output.
    """
    scales = {name: 1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7 for name, shape in shapes.items()}
    state = {name: given.normal(*shape, scale=scales[name]) for name, shape in shapes.items()}
    asked = ("w_q.weight", "w_k.weight")
    for size in (200.0, 1.0):
        scaled = {name: tensor * size if name.endswith(asked) else tensor for name, tensor in state.items()}
        yield given.fill(module, scaled, strict=False)


def itself_alone(given, size):
    """Return a mask (size, size) under which every token sees only itself."""
    return given.torch.eye(size, dtype=given.torch.bool, device=given.device)


def text(given, *shape):
    """Return ids, none of them 0: by default as many sentences as tokens, as long as the table."""
    N, V = given.sizes("N V")
    return given.integers(1, V, *(shape or (N, N)))


def open_to_itself(given, *shape):
    """Return a mask (..., T, T) that lets every token see itself, so that no row is fully blocked."""
    return given.mask(*shape, share=0.3) | itself_alone(given, shape[-1])


def seen(call, tokens, others):
    """Return by which rows of the output each token is seen: these change if another token is in its place.

    `tokens` and `others` are one sentence (1, T). Sentence i of the call's batch (T, T) has another token i.
    """
    T = tokens.size(1)
    before = tokens.repeat(T, 1)
    after = before.clone()
    for i in range(T):
        after[i, i] = others[0, i]
    one, other = call(before), call(after)
    changed = (one - other).abs().amax(dim=-1) > 1e-6 * one.abs().amax()
    return {
        f"rows that see token {i}": " ".join(str(row) for row, yes in enumerate(rows) if yes)
        for i, rows in enumerate(changed.tolist())
    }


def sentence_and_others(given):
    """Return two sentences (1, N) that have no token in common at any position."""
    N, V = given.sizes("N V")
    tokens = text(given, 1, N)
    return tokens, (tokens - 1 + given.integers(1, V - 1, 1, N)) % (V - 1) + 1


@check("a single token passes embedding, position, block and projection, nothing else", points=4, of=CLASS)
def test_single_token(impl, given):
    return language_model(impl, given, strict=True)(text(given, given.size("B"), 1))


@check("every position returns logits from the tokens up to itself", points=5, of=CLASS, judge=Like(likeness=0.2))
def test_causal(impl, given):
    model = language_model(impl, given)
    return {**seen(model, *sentence_and_others(given)), "logits": model(text(given))}


FUTURE = ("logits before a changed token, compared with no change", "change of the rows from the changed token on")


@check(
    "later tokens do not change earlier logits",
    points=3,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=FUTURE),
    requires_any=COMPUTED,
)
def test_future(impl, given):
    N, V = given.sizes("N V")
    model = language_model(impl, given, layers=2)
    ids = text(given, N - 1, N - 1)
    changed = given.number(1, N - 2)
    other = ids.clone()
    other[:, changed] = ids[:, changed] % (V - 1) + 1
    before, after = model(ids), model(other)
    change = (after - before)[:, changed:]
    return {
        FUTURE[0]: [after[:, :changed], before[:, :changed]],
        FUTURE[1]: change,
        "rows from the changed token on that change": int((change.abs().amax(dim=-1) > 1e-5).sum()),
    }


@check("the blocks follow one another, each with its own weights", points=3, of=CLASS)
def test_layers(impl, given):
    model = language_model(impl, given, layers=3, strict=True)
    return {"logits": model(text(given, *given.sizes("B T"))), **given.trainable(model)}


@check("a given mask is combined with the causal mask", points=5, of=CLASS, requires_any=COMPUTED)
def test_given_mask(impl, given):
    T, H = given.size("N") - 1, given.size("H")  # shorter than the table
    model, sentences = language_model(impl, given, layers=2), [ids[:, :T] for ids in sentence_and_others(given)]
    keys = given.mask(T, 1, 1, T)
    keys[..., 0] = True  # the first token sees only itself
    masks = {
        "(B, 1, 1, T)": keys,
        "(T, T)": open_to_itself(given, T, T),
        "(B, T, T)": open_to_itself(given, T, T, T),
        "(B, H, T, T)": open_to_itself(given, T, H, T, T),
    }
    return {
        f"mask {form}": seen(lambda ids, mask=mask: model(ids, mask=mask), *sentences) for form, mask in masks.items()
    }


FREE = (
    "logits of the blocked query",
    "logits of the blocked query in float16",
    "slope along the parameters",
    "rows at large scores with another last token, compared with usual scores",
    "other rows, compared with no query blocked",
)


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=FREE),
    requires_any=COMPUTED,
    trials=1,
)
def test_blocked_for_good(impl, given):
    V, D, H, F, N = given.sizes("V D H F N")
    ids, keys = text(given), given.mask(N, 1, 1, N)
    other, blocked = ids.clone(), given.number(0, N)
    other[:, -1] = ids[:, -1] % (V - 1) + 1
    scaled = at_two_scales(given, impl.LanguageModel(V, D, H, F, 1, N), model_shapes(given, 1))
    alone = [part(inputs, itself_alone(given, N))[:, :-1] for part, inputs in zip(scaled, (other, ids), strict=True)]

    model = language_model(impl, given)
    keys[..., 0] = True
    before = model(ids, keys)
    keys[blocked, ..., 0] = False  # the first token of that row sees nothing
    after, others = model(ids, keys), [row for row in range(N) if row != blocked]
    return {
        "rows at large scores with another last token, compared with usual scores": alone,
        "other rows, compared with no query blocked": [after[others], before[others]],
        "logits of the blocked query": after[blocked, 0],
        "slope along the parameters": given.slope(after, *model.parameters()),
        "logits of the blocked query in float16": language_model(impl, given, dtype="float16")(ids, keys)[blocked, 0],
    }


PADDING = Like(tolerance=1e-4, free=("logits with word 0, compared with a word of the same vector",))


@check(
    "no id is padding: without a mask, 0 is a word like any other",
    points=2,
    of=CLASS,
    judge=PADDING,
    requires_any=COMPUTED,
)
def test_no_padding(impl, given):
    V, N = given.sizes("V N")
    word = given.number(1, V)
    model = language_model(impl, given, alike=word)
    ids = text(given)[:, :-1].masked_fill(given.mask(N, N - 1, share=0.5), word)
    return {PADDING.free[0]: [model(ids.masked_fill(ids == word, 0)), model(ids)]}


@check(
    "dropout acts on the positions and inside the blocks, but not on the logits",
    points=2,
    of=CLASS,
    requires_any=COMPUTED,
)
def test_dropout(impl, given):
    sentences = sentence_and_others(given)
    model = language_model(impl, given, dropout=ALL, usual=False)
    first = "rows that see token 0"
    found = {"eval mode": seen(model, *sentences)[first]}
    model.positional_encoding.train()
    found["positions in train mode"] = seen(model, *sentences)[first]
    model.positional_encoding.eval()
    model.layers.train()
    found["blocks in train mode"] = seen(model, *sentences)[first]
    found["logits in train mode that are 0"] = int((model.train()(sentences[0]) == 0).sum())
    return found


@check("gradients reach every parameter", points=2, of=CLASS, requires_any=COMPUTED)
def test_gradients(impl, given):
    model = language_model(impl, given, layers=2)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    found = given.gradients(model(text(given)), *trained)
    pairs = zip(trained, found, strict=True)
    without = sum(parameter.numel() for parameter, gradient in pairs if gradient is None)
    return {"trained numbers without a gradient": without}


CALLS = (
    "logits of the next call, compared with the first",
    "logits of a shorter next call, compared with the first",
    "logits of one sentence, compared with the first",
)


@check(
    "a call does not modify its inputs or affect the next call, which may have one sentence",
    points=2,
    of=CLASS,
    judge=Like(tolerance=1e-4, free=CALLS),
    requires_any=COMPUTED,
)
def test_calls_apart(impl, given):
    N = given.size("N")
    model = language_model(impl, given)
    ids, mask = text(given), open_to_itself(given, N, 1, N, N)
    kept = [ids.clone(), mask.clone()]
    shorter, first = model(ids[1:, :-1]), model(ids)
    model(ids, mask)
    return {
        "numbers of the ids that changed": int((ids != kept[0]).sum()),
        "places of the mask that changed": int((mask != kept[1]).sum()),
        CALLS[0]: [model(ids), first],
        CALLS[1]: [model(ids[1:, :-1]), shorter],
        CALLS[2]: [model(ids[:1]), first[:1]],
    }


@check(
    "it has num_layers blocks, seq_len positions and a default dropout of 0.1",
    points=1,
    of=CLASS,
    requires_any=COMPUTED,
)
def test_sizes(impl, given):
    V, D, H, F, N = given.sizes("V D H F N")
    model = language_model(impl, given)
    deep = impl.LanguageModel(vocab_size=V, d_model=D, num_heads=H, d_ff=F, num_layers=3, seq_len=N)
    return {
        "number of blocks": len(deep.layers),
        "number of positions": model.positional_encoding.pe.size(1),
        "logits of a full table": model(text(given)).size(1),
        "dropout rate": deep.positional_encoding.dropout.p,
    }


DTYPES = Like(free=("logits, compared with float32",))


@check(
    "float64, bfloat16 and float16 models keep their dtype",
    points=1,
    of=CLASS,
    trials=1,
    judge=DTYPES,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    ids, found = text(given), {}
    for dtype in ("float64", "bfloat16", "float16"):
        model = language_model(impl, given, dtype=dtype)
        narrow = model(ids)
        found[dtype] = {DTYPES.free[0]: [narrow, model.float()(ids)]}
    return found


ON_CPU = Like(tolerance=1e-4, free=("logits", "logits under a mask", "slope along the parameters"))


@check("new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=ON_CPU, requires_any=COMPUTED)
def test_device(impl, given):
    N = given.size("N")
    module, ids, mask = language_model(impl, given), text(given), open_to_itself(given, N, N)

    def run(device):
        model = module.to(device)
        return {
            "logits": model(ids.to(device)),
            "logits under a mask": model(ids.to(device), mask.to(device)),
        }

    here = run("cpu")  # a tensor kept from these calls must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        found = {name: [output, here[name]] for name, output in there.items()}
        return {**found, "slope along the parameters": given.slope(there["logits under a mask"], *module.parameters())}


@picture("each prediction depends on the words up to its own", rows="prediction after", columns="word")
def picture_depends(impl, given):
    words, D, F = ["to", "be", "or", "not", "to", "be"], 16, 32
    T, other = len(words), len(words) + 1  # an id that is not one of the words
    V = other + 1
    shapes = {"embedding.embedding.weight": (V, D), "output_projection.weight": (V, D), "output_projection.bias": (V,)}
    shapes |= within("layers.0", block_shapes(D, F)) | within("layers.1", block_shapes(D, F))
    model = given.load(impl.LanguageModel(V, D, 2, F, 2, T, 0.0), shapes)
    ids = given.tensor([[other if place == row else place + 1 for place in range(T)] for row in range(T + 1)], "int64")
    logits = model(ids)  # (T + 1, T, V); row i replaces word i, the last row replaces none
    return (logits[:T] - logits[T:]).norm(dim=-1).T > 1e-5, words, words
