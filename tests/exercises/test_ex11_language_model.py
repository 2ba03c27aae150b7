"""ex11: blocks with a causal mask, from ids to logits."""

from autograder.checks import Like, Same, check, picture

CLASS = "LanguageModel"
AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters",))


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


def language_model(impl, given, *, layers=1, dtype="float32", dropout=0.1):
    """Return a model of V words and N positions with known weights, as the contract names them, in eval mode."""
    V, D, H, F, N = given.sizes("V D H F N")
    return given.load(impl.LanguageModel(V, D, H, F, layers, N, dropout), model_shapes(given, layers), dtype=dtype)


def at_two_scales(given, module, shapes):
    """Yield the module with scores far below -10,000 and far above 10,000, then with usual ones.

    A query that sees one key gives it all the weight, whatever the score: so both give the same output.
    """
    scales = {name: 1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7 for name, shape in shapes.items()}
    state = {name: given.normal(*shape, scale=scales[name]) for name, shape in shapes.items()}
    asked = ("w_q.weight", "w_k.weight")
    for size in (200.0, 1.0):
        yield given.fill(
            module, {name: tensor * size if name.endswith(asked) else tensor for name, tensor in state.items()}
        )


def itself_alone(given, size):
    """Return a mask (size, size) under which every token sees only itself."""
    return given.torch.eye(size, dtype=given.torch.bool, device=given.device)


def text(given):
    """Return ids (B, T), none of them 0."""
    B, T, V = given.sizes("B T V")
    return given.integers(1, V, B, T)


def open_to_itself(given, *shape):
    """Return a mask (..., T, T) that lets every token see itself, so that no row is fully blocked."""
    itself = given.torch.eye(shape[-1], dtype=given.torch.bool, device=given.device)
    return given.mask(*shape) | itself


@check("a single token passes embedding, position, block and projection, nothing else", points=4, of=CLASS)
def test_single_token(impl, given):
    return language_model(impl, given)(text(given)[:, :1])


@check("every position returns logits from the tokens up to itself", points=5, of=CLASS)
def test_causal(impl, given):
    return language_model(impl, given)(text(given))


@check("later tokens do not change earlier logits", points=3, of=CLASS, judge=Like(tolerance=1e-3, likeness=0.3))
def test_future(impl, given):
    T, V = given.sizes("T V")
    model = language_model(impl, given, layers=2)
    ids = text(given)
    changed = given.number(1, T - 1)
    other = ids.clone()
    other[:, changed] = ids[:, changed] % (V - 1) + 1
    before, after = model(ids), model(other)
    return {
        "logits before a changed token, compared with no change": [after[:, :changed], before[:, :changed]],
        "change of the rows from the changed token on": (after - before)[:, changed:],
    }


@check("the blocks follow one another, each with its own weights", points=3, of=CLASS)
def test_layers(impl, given):
    model = language_model(impl, given, layers=3)
    return {"logits": model(text(given)), **given.trainable(model)}


@check("a given mask is combined with the causal mask", points=5, of=CLASS)
def test_given_mask(impl, given):
    B, T, H = given.sizes("B T H")
    ids = text(given)
    model = language_model(impl, given, layers=2)
    keys = given.mask(B, 1, 1, T)
    keys[..., 0] = True  # the first token sees only itself
    return {
        "logits under mask (B, 1, 1, T)": model(ids, keys),
        "logits under mask (T, T)": model(ids, open_to_itself(given, T, T)),
        "logits under mask (B, T, T)": model(ids, mask=open_to_itself(given, B, T, T)),
        "logits under mask (B, H, T, T)": model(ids, open_to_itself(given, B, H, T, T)),
    }


FREE = ("logits of the blocked query", "logits of the blocked query in float16", "slope along the parameters")


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-3, likeness=0.2, free=FREE),  # with 200 numbers or more, 0.2 is not chance
    trials=1,
)
def test_blocked_for_good(impl, given):
    B, T, V, D, H, F, N = given.sizes("B T V D H F N")
    ids, keys = text(given), given.mask(B, 1, 1, T)
    other, blocked = ids.clone(), given.number(0, B)
    other[:, -1] = ids[:, -1] % (V - 1) + 1
    scaled = at_two_scales(given, impl.LanguageModel(V, D, H, F, 1, N), model_shapes(given, 1))
    alone = [part(inputs, itself_alone(given, T))[:, :-1] for part, inputs in zip(scaled, (other, ids), strict=True)]

    model = language_model(impl, given)
    keys[..., 0] = True
    before = model(ids, keys)
    keys[blocked, ..., 0] = False  # the first token of that row sees nothing
    after, others = model(ids, keys), [row for row in range(B) if row != blocked]
    return {
        "rows at large scores with another last token, compared with usual scores": alone,
        "other rows, compared with no query blocked": [after[others], before[others]],
        "logits of the blocked query": after[blocked, 0],
        "slope along the parameters": given.slope(after, *model.parameters()),
        "logits of the blocked query in float16": language_model(impl, given, dtype="float16")(ids, keys)[blocked, 0],
    }


@check("no id is padding: without a mask, 0 is a word like any other", points=2, of=CLASS)
def test_no_padding(impl, given):
    B, T = given.sizes("B T")
    return language_model(impl, given)(text(given).masked_fill(given.mask(B, T), 0))


@check("dropout acts on the positions and inside the blocks, but not on the logits", points=2, of=CLASS)
def test_dropout(impl, given):
    ids = text(given)
    model = language_model(impl, given, dropout=1.0)  # everything is dropped: only norms and biases are left
    seen = {"eval mode": model(ids)}
    model.positional_encoding.train()
    seen["logits with the positions in train mode"] = given.steady(lambda: model(ids))
    model.positional_encoding.eval()
    model.layers.train()
    seen["logits with the blocks in train mode"] = given.steady(lambda: model(ids))
    seen["logits in train mode"] = given.steady(lambda: model.train()(ids))
    return seen


@check("gradients reach every parameter", points=1, of=CLASS, judge=Same(tolerance=1e-3))
def test_gradients(impl, given):
    model = language_model(impl, given, layers=2)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    pairs = list(zip(trained, given.gradients(model(text(given)), *trained), strict=True))
    return {
        "trained numbers without a gradient": sum(
            parameter.numel() for parameter, gradient in pairs if gradient is None
        ),
        "slope along the parameters": sum(
            (parameter * gradient).sum() for parameter, gradient in pairs if gradient is not None
        ),
    }


@check("a call does not modify its inputs or affect the next call", points=2, of=CLASS)
def test_calls_apart(impl, given):
    B, T = given.sizes("B T")
    model = language_model(impl, given)
    ids, mask = text(given), open_to_itself(given, B, 1, T, T)
    model(ids[:, :-1])
    model(ids, mask)
    return {
        "arguments after the call": [ids, mask],
        "logits of the next call": model(ids),
        "logits of a shorter next call": model(ids[1:, :-2]),
    }


@check("it has num_layers blocks, seq_len positions and a default dropout of 0.1", points=1, of=CLASS)
def test_sizes(impl, given):
    V, D, H, F, N, B = given.sizes("V D H F N B")
    model = language_model(impl, given)
    deep = impl.LanguageModel(vocab_size=V, d_model=D, num_heads=H, d_ff=F, num_layers=3, seq_len=N)
    return {
        "number of blocks": len(deep.layers),
        "number of positions": model.positional_encoding.pe.size(1),
        "logits of a full table": model(given.integers(0, V, B, N)),
        "dropout rate": deep.positional_encoding.dropout.p,
    }


@check("float64, bfloat16 and float16 models keep their dtype", points=1, of=CLASS, trials=1)
def test_dtypes(impl, given):
    ids = text(given)
    seen = {dtype: language_model(impl, given, dtype=dtype)(ids) for dtype in ("float64", "bfloat16", "float16")}
    # A float32 table is no mistake. So for float64 only the dtype counts, and the values in float32 precision.
    return {**seen, "float64": [seen["float64"].dtype, seen["float64"].float()]}


@check("new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=AS_ON_CPU)
def test_device(impl, given):
    B, T = given.sizes("B T")
    module, ids, mask = language_model(impl, given), text(given), open_to_itself(given, B, T, T)

    def run(device):
        model = module.to(device)
        return {
            "logits": model(ids.to(device)),
            "logits under a mask": model(ids.to(device), mask.to(device)),
        }

    here = run("cpu")  # a tensor kept from these calls must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        seen = {name: [output, here[name]] for name, output in there.items()}
        return {**seen, "slope along the parameters": given.slope(there["logits under a mask"], *module.parameters())}


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
