"""ex22: pre-norm blocks and the model made of them, with and without a cache.

The order of norms and sums is judged by `block`, the head by `no_layers`. Other checks compare a model with its own
blocks, or with itself, so that a mistake in one part costs nothing there.
"""

import math

from autograder.checks import Like, Raises, Same, check, picture

BLOCK = "ModernBlock"
CLASS = "ModernModel"
COMPUTED = ("no_layers", "theta", "block")  # one of them passes unless nothing is computed
TWO_WAYS = "logits, computed in two ways"
WITH_SINKS = "logits with sinks, computed in two ways"
WITHOUT_LAYERS = "logits without a layer, computed in two ways"
SHORTER = "logits of a shorter text, computed in two ways"
AGREEING = Like(tolerance=1e-3, free=(TWO_WAYS, WITH_SINKS, WITHOUT_LAYERS, SHORTER))
"""A program is compared with itself: whether these logits are right is the claim of other checks."""

FEW = 8  # logits are enough if all logits are computed in the same way
AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters", "logits", "logits in chunks"))


def within(prefix, shapes):
    return {f"{prefix}.{name}": shape for name, shape in shapes.items()}


def block_shapes(D, F, kv_features):
    """Return the parameters of a block, by name."""
    attention = {"q_proj": (D, D), "k_proj": (kv_features, D), "v_proj": (kv_features, D), "output_proj": (D, D)}
    shapes = {"ln1.weight": (D,), "ln2.weight": (D,)}
    shapes |= {f"attn.{name}.weight": shape for name, shape in attention.items()}
    return shapes | {"ffn.w1.weight": (F, D), "ffn.w3.weight": (F, D), "ffn.w2.weight": (D, F)}


def model_shapes(given, layers, *, grouped=False, tied=False):
    """Return the parameters of a model of V tokens, by name."""
    V, D, F, H, G = given.sizes("V D F H G")
    shapes = {"token_embeddings.weight": (V, D)}
    for i in range(layers):
        shapes |= within(f"layers.{i}", block_shapes(D, F, D // H * G if grouped else D))
    shapes |= {"ln_final.weight": (D,)}
    return shapes if tied else {**shapes, "lm_head.weight": (V, D)}


def new_model(impl, given, layers, *, grouped=False, tied=False, **options):
    """Return a model of V tokens and N positions as it is made."""
    V, N, D, H, G, F = given.sizes("V N D H G F")
    options = {**options, "num_kv_heads": G} if grouped else options
    options = {**options, "tie_weights": True} if tied else options
    return impl.ModernModel(V, N, D, layers, H, F, **options)


def modern(impl, given, layers=1, *, dtype="float32", grouped=False, tied=False, strict=False, **options):
    """Return a model of V tokens and N positions with known weights, as far as it has them, in eval mode.

    The embedding and the head have one matrix, so that a program may tie them. Those of a `strict` model differ.
    """
    model = new_model(impl, given, layers, grouped=grouped, tied=tied, **options)
    shapes = model_shapes(given, layers, grouped=grouped, tied=tied)
    if strict:
        return given.load(model, shapes, dtype=dtype)
    state = random_weights(given, shapes)
    if not tied:
        state["lm_head.weight"] = state["token_embeddings.weight"]
    return given.fill(model, state, dtype=dtype, strict=False)


def random_weights(given, shapes):
    """Return random weights of these shapes, by name."""
    scales = {name: 1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7 for name, shape in shapes.items()}
    return {name: given.normal(*shape, scale=scales[name]) for name, shape in shapes.items()}


def modern_block(impl, given, *, grouped=False, **options):
    """Return a block with known weights, in eval mode."""
    D, H, G, F = given.sizes("D H G F")
    options = {**options, "num_kv_heads": G} if grouped else options
    block = impl.ModernBlock(D, H, F, **options)
    return given.load(block, block_shapes(D, F, D // H * G if grouped else D))


def text(given, length=None, rows=2):
    """Return ids (rows, T), or so many of them."""
    T, V = given.sizes("T V")
    return given.integers(0, V, rows, length or T)


def through(given, model, cache, ids, lengths):
    """Return the logits of ids that a model gets in chunks of these lengths, the last of what is left."""
    rest = ids.size(1) - sum(lengths)
    return given.torch.cat([model(chunk, cache) for chunk in ids.split([*lengths, rest], dim=1)], dim=1)


def scaled_by_position(given):
    """Return a replacement for rotary positions: it scales each position by a factor of its own."""

    class Scaled(given.torch.nn.Module):
        def forward(self, x, token_positions=None):
            if token_positions is None:
                token_positions = given.torch.arange(x.size(-2), device=x.device)
            factors = 1 + token_positions.to(x.dtype).unsqueeze(-1) / 4  # (..., T, 1)
            while 2 < factors.dim() < x.dim():
                factors = factors.unsqueeze(1)
            return x * factors

    return Scaled()


class Kept:
    """A replacement for a cache: it begins with the tokens that it is given."""

    def __init__(self, torch):
        self.torch = torch
        self.length = self.held = 0
        self.rows = None

    def update(self, key, value):
        new = (key, value)
        self.rows = new if self.rows is None else [self.torch.cat(pair, 2) for pair in zip(self.rows, new, strict=True)]
        self.length = self.held = self.length + key.size(2)
        return tuple(self.rows)


@check("a block normalizes before each sublayer, and adds each sublayer to its input", points=5, of=BLOCK)
def test_block(impl, given):
    B, D = given.sizes("B D")
    return modern_block(impl, given)(given.normal(B, 1, D))


MASKED = "output with the first tokens masked, and without them at later positions"
CONTINUED = "output of later tokens with a cache, and of the whole text"
TOGETHER = "output of later tokens with a cache, an open mask and positions, and of the whole text at these positions"


@check(
    "a block hands num_kv_heads, mask, positions, rope and cache to its attention",
    points=4,
    of=BLOCK,
    judge=Like(tolerance=1e-3, free=(MASKED, CONTINUED, TOGETHER)),
    requires_any=COMPUTED,
)
def test_handed_on(impl, given):
    torch, (T, D) = given.torch, given.sizes("T D")
    x, hidden = given.normal(2, T, D), given.number(1, 3)
    block = modern_block(impl, given, grouped=True, rope=scaled_by_position(given))
    mask = torch.ones(T, T, dtype=torch.bool, device=given.device)
    mask[:, :hidden] = False
    later = torch.arange(hidden, T, device=given.device)
    cache, other, places = Kept(torch), Kept(torch), torch.arange(3, T + 3, device=given.device)
    with torch.no_grad():
        block(x[:, :2], cache=cache)
        continued, whole = block(x[:, 2:], cache=cache), block(x)
        rest = block(x[:, hidden:], token_positions=later)
        moved = (rest - block(x[:, hidden:])).abs().amax(dim=-1) > 1e-3
        block(x[:, :2], token_positions=places[:2], cache=other)
        together = block(x[:, 2:], mask[2:] | True, token_positions=places[2:], cache=other)
        placed = block(x, token_positions=places)
    return {
        MASKED: [block(x, mask)[:, hidden:], rest],
        CONTINUED: [continued, whole[:, 2:]],
        TOGETHER: [together, placed[:, 2:]],
        "tokens that other positions change": moved[:, 1:].sum(),
        "tokens in all": moved[:, 1:].numel(),
    }


# The final norm undoes a factor on its input up to epsilon: so small a difference would not show which factor it was.
UP_TO_EPS = Same(tolerance=1e-3)


@check("without a layer, the logits are the head of the normalized embeddings", points=4, of=CLASS, judge=UP_TO_EPS)
def test_no_layers(impl, given):
    return modern(impl, given, 0, strict=True)(text(given))


def composed(given, model, ids, mask=None):
    """Return the logits of a model's own parts, one after the other."""
    T = ids.size(1)
    x, positions = model.token_embeddings(ids), given.torch.arange(T, device=ids.device)
    if mask is None:
        mask = given.torch.ones(T, T, dtype=given.torch.bool, device=ids.device).tril()
    for layer in model.layers:
        x = layer(x, mask, positions)
    return model.lm_head(model.ln_final(x))


@check("a prediction depends on all earlier tokens", points=3, of=CLASS, requires_any=COMPUTED, idea=True)
def test_depends(impl, given):
    T, V = given.sizes("T V")
    model, ids = new_model(impl, given, 2).double().eval().to(given.device), text(given, rows=1)
    with given.torch.no_grad():
        for weight in model.parameters():
            weight.copy_(given.normal(*weight.shape, scale=0.5, shift=0.1, dtype="float64"))
        others = ids.repeat(T, 1)
        places = given.torch.arange(T, device=given.device)
        others[places, places] = (others[places, places] + given.number(1, V)) % V  # row i changes token i
        changed = (model(others) - model(ids))[:, -1].abs().amax(dim=-1) > 1e-9
    return {"earlier tokens that the last prediction depends on": int(changed[:-1].sum()), "tokens": T}


@check(
    "embedding, blocks, final norm and head follow one another",
    points=5,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_text(impl, given):
    model, ids = modern(impl, given), text(given)
    return {TWO_WAYS: [model(ids), composed(given, model, ids)]}


@check("later tokens do not change earlier logits", points=2, of=CLASS, judge=AGREEING, requires_any=COMPUTED)
def test_future(impl, given):
    T, V = given.sizes("T V")
    model, ids = modern(impl, given, 2), text(given)
    changed = given.number(1, T - 1)
    other = ids.clone()
    other[:, changed] = (ids[:, changed] + 1) % V
    return {TWO_WAYS: [model(other)[:, :changed], model(ids)[:, :changed]]}


@check(
    "the blocks follow one another, each with its own weights",
    points=3,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_layers(impl, given):
    model, ids = modern(impl, given, 3), text(given, 4)
    return {TWO_WAYS: [model(ids)[..., :FEW], composed(given, model, ids)[..., :FEW]], **given.trainable(model)}


@check(
    "num_kv_heads reaches every block, and without it each head has its own",
    points=2,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_kv_heads(impl, given):
    D, H, G = given.sizes("D H G")
    ids, state = text(given, 4), {}
    grouped, ungrouped = (new_model(impl, given, 2, grouped=grouped) for grouped in (True, False))
    for name, shape in model_shapes(given, 2, grouped=True).items():
        state[name] = given.normal(*shape, scale=1.2 / shape[-1] ** 0.5)
    shared = {
        name: weight.unflatten(0, (G, D // H)).repeat_interleave(H // G, dim=0).flatten(0, 1)
        if name.endswith(("k_proj.weight", "v_proj.weight"))
        else weight
        for name, weight in state.items()
    }
    logits = [given.fill(grouped, state)(ids)[..., :FEW], given.fill(ungrouped, shared)(ids)[..., :FEW]]
    return {
        TWO_WAYS: logits,
        "with num_kv_heads": given.trainable(grouped),
        "without num_kv_heads": given.trainable(ungrouped),
    }


@check("rope_theta is the base of the positions of each head", points=3, of=CLASS)
def test_theta(impl, given):
    ids = text(given)
    return {
        "logits with another base": modern(impl, given, 2, rope_theta=given.real(3.0, 30.0))(ids)[..., :FEW],
        "logits with the base 10,000": modern(impl, given, rope_theta=10000.0)(ids)[..., :FEW],
    }


@check("eps reaches every norm", points=2, of=CLASS)
def test_eps(impl, given):
    B, D = given.sizes("B D")
    eps = given.real(0.5, 2.0)
    return {
        "output of a block": modern_block(impl, given, eps=eps)(given.normal(B, 1, D)),
        "logits without a layer": modern(impl, given, 0, eps=eps)(text(given, 3)),
        "logits with a layer": modern(impl, given, eps=eps)(text(given, 3))[..., :FEW],
    }


def band(given, T, window, sinks):
    """Return the mask of the contract for a text without a cache."""
    places = given.torch.arange(T, device=given.device)
    distance = places.unsqueeze(1) - places
    return (distance >= 0) & ((distance < window) | (places < sinks))


@check(
    "with a window, each layer sees the latest tokens and the sinks",
    points=3,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_window(impl, given):
    T, seen = given.size("T"), {}
    ids, window, sinks = text(given), given.number(2, T - 2), given.number(1, 3)
    for name, layers, options in ((TWO_WAYS, 2, {}), (WITH_SINKS, 1, {"sinks": sinks})):
        model = modern(impl, given, layers, window=window, **options)
        own = composed(given, model, ids, band(given, T, window, options.get("sinks", 0)))
        seen[name] = [model(ids), own]
    return {name: [logits[..., :FEW] for logits in both] for name, both in seen.items()}


@check("there is one empty cache per layer, as long as asked", points=2, of=CLASS, requires_any=("cache", *COMPUTED))
def test_make_cache(impl, given):
    V, N, H, D, F = given.sizes("V N H D F")
    layers = given.number(3, 6)
    model = impl.ModernModel(V, N, D, layers, H, F)
    usual, longer, shorter = model.make_cache(), model.make_cache(max_len=N + given.number(2, 9)), model.make_cache(4)
    return {
        "caches in the list": len(usual),
        "different cache objects in two lists together": len({id(layer) for layer in [*usual, *longer]}),
        "max_len of the caches": [layer.max_len for layer in usual],
        "max_len of the caches, if more is asked for": [layer.max_len for layer in longer],
        "max_len of the caches, if less is asked for": [layer.max_len for layer in shorter],
        "length of the new caches": [layer.length for layer in usual],
        "caches of a model with a window": len(impl.ModernModel(V, N, D, layers, H, F, window=3).make_cache()),
        "caches of a model without layers": len(impl.ModernModel(V, N, D, 0, H, F).make_cache()),
    }


@check(
    "a text in chunks through the cache gives the logits of one pass",
    points=5,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_cache(impl, given):
    model, ids = modern(impl, given, 2), text(given)
    with given.torch.no_grad():
        cache = model.make_cache()
        logits = through(given, model, cache, ids, [2, 1, 1])
        unused = modern(impl, given, 0)
        return {
            TWO_WAYS: [logits[..., :FEW], model(ids)[..., :FEW]],
            "length of the caches after the text": [layer.length for layer in cache],
            WITHOUT_LAYERS: [unused(ids, cache=unused.make_cache()), unused(ids)],
        }


@check(
    "with a window too, and the caches hold no more than window and sinks",
    points=4,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_window_cache(impl, given):
    T, seen = given.size("T"), {}
    for name, sinks in ((TWO_WAYS, 0), (WITH_SINKS, given.number(1, 3))):
        window = given.number(2, 4)
        model, ids = modern(impl, given, 2, window=window, sinks=sinks), text(given, T + 2)
        with given.torch.no_grad():
            cache = model.make_cache()
            chunks = through(given, model, cache, ids, [T - 1, 1])
            whole = composed(given, model, ids, band(given, T + 2, window, sinks))
        seen[name] = [chunks[..., :FEW], whole[..., :FEW]]
        seen[f"keys of the caches beyond window and {sinks} sinks"] = [
            max(0, layer.held - window - sinks) for layer in cache
        ]
    return seen


@check(
    "a text beyond context_length raises a ValueError with both numbers",
    points=2,
    of=CLASS,
    judge=Raises(),
    requires_any=COMPUTED,
)
def test_too_long(impl, given):
    V, N, H, D, F = given.sizes("V N H D F")
    ids = given.integers(0, V, 2, N + 1)
    model = impl.ModernModel(V, N, D, given.number(1, 3), H, F)
    return given.raises(lambda: model(ids), ids.size(1), N)


BOTH = "a ValueError that names both lengths"


def refusal(call, limit, length, new):
    """Return what a call raises, in words. It may name the length of the whole text, or its two parts."""
    try:
        call()
    except ValueError as error:
        named = set("".join(letter if letter.isdigit() else " " for letter in str(error)).split())
        whole = str(length + new) in named or named.issuperset((str(length), str(new)))
        return BOTH if whole and str(limit) in named else "a ValueError that does not name both lengths"
    except NotImplementedError:  # the function is not written: that is no refusal
        raise
    except Exception as error:
        return f"a {type(error).__name__}"
    return "no error"


@check(
    "context_length counts the tokens in the cache, and a refusal leaves the caches as they are",
    points=3,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_refused(impl, given):
    N = given.size("N")
    seen = {}
    for way, name, options in ((TWO_WAYS, "", {}), (WITH_SINKS, " with a window", {"window": given.number(2, 4)})):
        model, ids = modern(impl, given, **options, sinks=1), text(given, N)
        with given.torch.no_grad():
            cache = model.make_cache(2 * N)
            model(ids[:, :-2], cache)
            seen[f"refuses three tokens too many{name}"] = refusal(lambda: model(ids[:, :5], cache), N, N - 2, 5)  # noqa: B023
            seen[f"refuses one token too many{name}"] = refusal(lambda: model(ids[:, :3], cache), N, N - 2, 3)  # noqa: B023
            seen[f"length of the caches after the refusals{name}"] = [layer.length for layer in cache]
            seen[way] = [model(ids[:, -2:], cache)[..., :FEW], model(ids)[:, -2:, :FEW]]
    return seen


@check(
    "tied weights are one parameter, for the embedding and for the head",
    points=4,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_tied(impl, given):
    model, ids = new_model(impl, given, 1, tied=True), text(given)
    different = int((model.lm_head.weight != model.token_embeddings.weight).sum())
    with given.torch.no_grad():
        for weight in model.parameters():
            weight.zero_()  # a head of its own gets no weights below, so its first numbers must not count
    shapes = model_shapes(given, 1, tied=True)
    state = {name: given.normal(*shape, scale=1.2 / shape[-1] ** 0.5) for name, shape in shapes.items()}
    apart = {**state, "lm_head.weight": state["token_embeddings.weight"].clone()}
    logits = [given.fill(model, state)(ids), given.fill(new_model(impl, given, 1), apart)(ids)]
    return {
        "numbers in which the head of a new model differs from its embedding": different,
        TWO_WAYS: [one[..., :FEW] for one in logits],
        **given.trainable(model),
    }


@check("a new model guesses: its loss on random ids is below ln V + 1", points=3, of=CLASS, judge=Like())
def test_initial_loss(impl, given):
    T, V = given.sizes("T V")
    ids, labels, seen = text(given, rows=6), given.integers(0, V, 6 * T), {}
    for name, layers, tied in (("", 2, False), (", tied", 2, True), (", tied, no layers", 0, True)):
        logits = new_model(impl, given, layers, tied=tied).to(given.device)(ids)
        loss = given.torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels)
        seen[f"loss above ln V + 1{name}"] = float((loss.detach() - math.log(V) - 1).clamp(min=0))
    return {**seen, "logits with known weights": modern(impl, given, 0)(ids[:2, :4])}


@check("gradients reach every parameter", points=1, of=CLASS, requires_any=COMPUTED)
def test_gradients(impl, given):
    model = modern(impl, given, 2)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    pairs = zip(trained, given.gradients(model(text(given)), *trained), strict=True)
    reached = sum(parameter.numel() for parameter, gradient in pairs if gradient is not None)
    return {**given.trainable(model), "numbers that a gradient reaches": reached}


@check("a text of exactly context_length tokens is read", points=1, of=CLASS, judge=AGREEING, requires_any=COMPUTED)
def test_full_context(impl, given):
    # More tokens than features and words, since a table sized by either would do otherwise.
    model = impl.ModernModel(vocab_size=5, context_length=13, d_model=8, num_layers=1, num_heads=2, d_ff=6)
    shapes = {"token_embeddings.weight": (5, 8), "ln_final.weight": (8,), "lm_head.weight": (5, 8)}
    model = given.load(model, shapes | within("layers.0", block_shapes(8, 6, 8)))
    ids = given.integers(0, 5, 2, 13)
    return {TWO_WAYS: [model(ids)[:, :5], model(ids[:, :5])]}


@check(
    "training mode and evaluation mode give the same logits", points=1, of=CLASS, judge=AGREEING, requires_any=COMPUTED
)
def test_modes(impl, given):
    model, ids = modern(impl, given), text(given)
    return {TWO_WAYS: [model.train()(ids), model.eval()(ids)]}


@check(
    "a call does not modify its inputs or affect the next call",
    points=2,
    of=CLASS,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_calls_apart(impl, given):
    model, ids = modern(impl, given), text(given)
    same = ids.clone()
    with given.torch.no_grad():
        first, shorter = model(ids)[..., :FEW], model(ids[1:, :-2])[..., :FEW]
        model(ids[:, :-1])
        model(ids, model.make_cache())
    return {
        "ids after the calls, and before": [ids, same],
        TWO_WAYS: [model(ids)[..., :FEW], first],
        SHORTER: [model(ids[1:, :-2])[..., :FEW], shorter],
    }


@check("float64, bfloat16 and float16 models keep their dtype", points=1, of=CLASS, trials=1, judge=Like())
def test_dtypes(impl, given):
    ids = text(given)
    return {dtype: modern(impl, given, dtype=dtype)(ids) for dtype in ("float64", "bfloat16", "float16")}


@check(
    "new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=AS_ON_CPU, requires_any=COMPUTED
)
def test_device(impl, given):
    module, ids = modern(impl, given, window=3), text(given)

    def run(device):
        model, there = module.to(device), ids.to(device)
        with given.torch.no_grad():
            chunks = through(given, model, model.make_cache(), there, [4])
        return {"logits": model(there), "logits in chunks": chunks}

    here = run("cpu")  # a tensor kept from these calls must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        seen = {name: [output, here[name]] for name, output in there.items()}
        return {**seen, "slope along the parameters": given.slope(there["logits"], *module.parameters())}


def depends(impl, given, layers):
    """Return which word each prediction depends on, for a window of 3 tokens and one sink."""
    words, D, F = ["it", "was", "the", "best", "of", "times", "it", "was", "the", "worst"], 16, 32
    T, other = len(words), len(words)  # `other` is an id that is not one of the words
    V = other + 1
    shapes = {"token_embeddings.weight": (V, D), "ln_final.weight": (D,), "lm_head.weight": (V, D)}
    for i in range(layers):
        shapes |= within(f"layers.{i}", block_shapes(D, F, D // 2))
    model = given.load(impl.ModernModel(V, T, D, layers, 4, F, num_kv_heads=2, window=3, sinks=1), shapes)
    ids = given.tensor([[other if place == row else place for place in range(T)] for row in range(T + 1)], "int64")
    with given.torch.no_grad():
        logits = model(ids)  # (T + 1, T, V); row i replaces word i, the last row replaces none
    return (logits[:T] - logits[T:]).norm(dim=-1).T > 1e-5, words, words


@picture("one layer: window 3 and a sink", rows="prediction after", columns="word it depends on")
def picture_one_layer(impl, given):
    return depends(impl, given, 1)


@picture("two layers reach further", rows="prediction after", columns="word it depends on")
def picture_two_layers(impl, given):
    return depends(impl, given, 2)
