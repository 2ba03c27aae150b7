"""ex22: pre-norm blocks and the model made of them, with and without a cache."""

import math

from autograder.checks import Like, Raises, Same, check, picture

BLOCK = "ModernBlock"
CLASS = "ModernModel"
COMPUTED = ("no_layers", "text", "block")  # one of them passes unless nothing is computed
FEW = 8  # logits are enough if all logits are computed in the same way
AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters",))


def within(prefix, shapes):
    return {f"{prefix}.{name}": shape for name, shape in shapes.items()}


def block_shapes(D, F, kv_features):
    """Return the parameters of a block, by name."""
    attention = {"q_proj": (D, D), "k_proj": (kv_features, D), "v_proj": (kv_features, D), "output_proj": (D, D)}
    shapes = {"ln1.weight": (D,), "ln2.weight": (D,)}
    shapes |= {f"attn.{name}.weight": shape for name, shape in attention.items()}
    return shapes | {"ffn.w1.weight": (F, D), "ffn.w3.weight": (F, D), "ffn.w2.weight": (D, F)}


def model_shapes(given, layers, *, grouped=True, tied=False):
    """Return the parameters of a model of V tokens, by name."""
    V, D, F, H, G = given.sizes("V D F H G")
    shapes = {"token_embeddings.weight": (V, D)}
    for i in range(layers):
        shapes |= within(f"layers.{i}", block_shapes(D, F, D // H * G if grouped else D))
    shapes |= {"ln_final.weight": (D,)}
    return shapes if tied else {**shapes, "lm_head.weight": (V, D)}


def new_model(impl, given, layers, *, grouped=True, tied=False, **options):
    """Return a model of V tokens and N positions as it is made."""
    V, N, D, H, G, F = given.sizes("V N D H G F")
    options = {**options, "num_kv_heads": G} if grouped else options
    options = {**options, "tie_weights": True} if tied else options
    return impl.ModernModel(V, N, D, layers, H, F, **options)


def modern(impl, given, layers=1, *, dtype="float32", grouped=True, tied=False, **options):
    """Return a model of V tokens and N positions with known weights, as the contract names them, in eval mode."""
    model = new_model(impl, given, layers, grouped=grouped, tied=tied, **options)
    return given.load(model, model_shapes(given, layers, grouped=grouped, tied=tied), dtype=dtype)


def modern_block(impl, given, *, grouped=True, **options):
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


@check("a block hands mask, positions, rope and cache to its attention", points=4, of=BLOCK)
def test_handed_on(impl, given):
    T, D = given.sizes("T D")
    x, later = given.normal(2, T, D), given.tensor([2 * place + 1 for place in range(T)], "int64")
    mask = given.mask(T, T) | given.torch.eye(T, dtype=given.torch.bool, device=given.device)
    block = modern_block(impl, given, rope=scaled_by_position(given))
    cache = Kept(given.torch)
    with given.torch.no_grad():
        block(x[:, :2], cache=cache)
        continued = block(x[:, 2:], cache=cache)
    return {
        "output with a mask": block(x, mask)[..., :FEW],
        "output with positions 1, 3, 5 ...": block(x, token_positions=later)[..., :FEW],
        "output of later tokens with a cache": continued[..., :FEW],
    }


# The final norm undoes a factor on its input up to epsilon: so small a difference would not show which factor it was.
UP_TO_EPS = Same(tolerance=1e-3)


@check("without a layer, the logits are the head of the normalized embeddings", points=4, of=CLASS, judge=UP_TO_EPS)
def test_no_layers(impl, given):
    return modern(impl, given, 0)(text(given))


@check("every position returns logits from the tokens up to itself", points=5, of=CLASS)
def test_text(impl, given):
    return modern(impl, given)(text(given))


@check("later tokens do not change earlier logits", points=2, of=CLASS, judge=Like(tolerance=1e-3, likeness=0.3))
def test_future(impl, given):
    T, V = given.sizes("T V")
    model, ids = modern(impl, given, 2), text(given)
    changed = given.number(1, T - 1)
    other = ids.clone()
    other[:, changed] = (ids[:, changed] + 1) % V
    before, after = model(ids), model(other)
    return {
        "logits before a changed token, compared with no change": [after[:, :changed], before[:, :changed]],
        "change of the rows from the changed token on": (after - before)[:, changed:],
    }


@check("the blocks follow one another, each with its own weights", points=3, of=CLASS)
def test_layers(impl, given):
    model = modern(impl, given, 3)
    return {"logits": model(text(given, 4))[..., :FEW], **given.trainable(model)}


@check("num_kv_heads reaches every block, and without it each head has its own", points=2, of=CLASS)
def test_kv_heads(impl, given):
    grouped, ungrouped = modern(impl, given, 2), modern(impl, given, 2, grouped=False)
    ids = text(given, 4)
    return {
        "logits with num_kv_heads": grouped(ids)[..., :FEW],
        "logits without num_kv_heads": ungrouped(ids)[..., :FEW],
        "with num_kv_heads": given.trainable(grouped),
        "without num_kv_heads": given.trainable(ungrouped),
    }


@check("rope_theta is the base of the positions of each head", points=2, of=CLASS)
def test_theta(impl, given):
    ids = text(given)
    return {
        "logits with another base": modern(impl, given, rope_theta=given.real(3.0, 30.0))(ids)[..., :FEW],
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


@check("with a window, each layer sees the latest tokens and the sinks", points=3, of=CLASS)
def test_window(impl, given):
    T = given.size("T")
    ids = text(given)
    window = given.number(2, T - 2)
    return {
        "logits with a window": modern(impl, given, 2, window=window)(ids)[..., :FEW],
        "logits with a window and sinks": modern(impl, given, window=window, sinks=given.number(1, 3))(ids)[..., :FEW],
    }


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


@check("a text in chunks through the cache gives the logits of one pass", points=5, of=CLASS)
def test_cache(impl, given):
    model, ids = modern(impl, given, 2), text(given)
    with given.torch.no_grad():
        cache = model.make_cache()
        logits = through(given, model, cache, ids, [2, 1, 1])
        unused = modern(impl, given, 0)
        return {
            "logits in chunks": logits[..., :FEW],
            "length of the caches after the text": [layer.length for layer in cache],
            "logits without a layer": unused(ids, cache=unused.make_cache())[..., :FEW],
        }


@check("with a window too, and the caches hold no more than window and sinks", points=4, of=CLASS)
def test_window_cache(impl, given):
    T, seen = given.size("T"), {}
    for name, sinks in (("with a window", 0), ("with a window and sinks", given.number(1, 3))):
        window = given.number(2, 4)
        model, ids = modern(impl, given, 2, window=window, sinks=sinks), text(given, T + 2)
        with given.torch.no_grad():
            cache = model.make_cache()
            seen[f"logits {name}"] = through(given, model, cache, ids, [T - 1, 1])[..., :FEW]
        seen[f"keys of the caches beyond window + sinks, {name}"] = [
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


@check("context_length counts the tokens in the cache, and a refusal leaves the caches as they are", points=3, of=CLASS)
def test_refused(impl, given):
    N = given.size("N")
    seen = {}
    for name, options in (("", {}), (" with a window", {"window": given.number(2, 4)})):
        model, ids = modern(impl, given, **options), text(given, N)
        with given.torch.no_grad():
            cache = model.make_cache(2 * N)
            model(ids[:, :-2], cache)
            seen[f"refuses three tokens too many{name}"] = refusal(lambda: model(ids[:, :5], cache), N, N - 2, 5)  # noqa: B023
            seen[f"refuses one token too many{name}"] = refusal(lambda: model(ids[:, :3], cache), N, N - 2, 3)  # noqa: B023
            seen[f"length of the caches after the refusals{name}"] = [layer.length for layer in cache]
            seen[f"logits of the last two tokens{name}"] = model(ids[:, -2:], cache)[..., :FEW]
    return seen


@check("tied weights are one parameter, for the embedding and for the head", points=4, of=CLASS)
def test_tied(impl, given):
    model, ids = new_model(impl, given, 1, tied=True), text(given)
    different = int((model.lm_head.weight != model.token_embeddings.weight).sum())
    with given.torch.no_grad():
        for weight in model.parameters():
            weight.zero_()  # a head of its own gets no weights below, so its first numbers must not count
    model = given.load(model, model_shapes(given, 1, tied=True))
    logits = model(ids)
    return {
        "numbers in which the head of a new model differs from its embedding": different,
        "logits": logits[..., :FEW],
        **given.trainable(model),
        "slope along the parameters": given.slope(logits, *model.parameters()),
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


@check("gradients reach every parameter", points=1, of=CLASS, judge=Same(tolerance=1e-3))
def test_gradients(impl, given):
    model = modern(impl, given, 2)
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


@check("a text of exactly context_length tokens is read", points=1, of=CLASS)
def test_full_context(impl, given):
    # More tokens than features and words, since a table sized by either would do otherwise.
    model = impl.ModernModel(vocab_size=5, context_length=13, d_model=8, num_layers=1, num_heads=2, d_ff=6)
    shapes = {"token_embeddings.weight": (5, 8), "ln_final.weight": (8,), "lm_head.weight": (5, 8)}
    model = given.load(model, shapes | within("layers.0", block_shapes(8, 6, 8)))
    return model(given.integers(0, 5, 2, 13))


@check("training mode and evaluation mode give the same logits", points=1, of=CLASS)
def test_modes(impl, given):
    model, ids = modern(impl, given), text(given)
    return {"logits in train mode": model.train()(ids)[..., :FEW], "logits in eval mode": model.eval()(ids)[..., :FEW]}


@check("a call does not modify its inputs or affect the next call", points=2, of=CLASS)
def test_calls_apart(impl, given):
    model, ids = modern(impl, given), text(given)
    with given.torch.no_grad():
        model(ids[:, :-1])
        model(ids, model.make_cache())
    return {
        "ids": ids,
        "logits of the next call": model(ids)[..., :FEW],
        "logits of the next call, with a shorter text": model(ids[1:, :-2])[..., :FEW],
    }


@check("float64, bfloat16 and float16 models keep their dtype", points=1, of=CLASS, trials=1)
def test_dtypes(impl, given):
    ids = text(given)
    seen = {dtype: modern(impl, given, dtype=dtype)(ids) for dtype in ("float64", "bfloat16", "float16")}
    # Tables in float32 are no mistake. So for float64 only the dtype counts, and the values in float32 precision.
    return {**seen, "float64": {"dtype": seen["float64"].dtype, "logits": seen["float64"].float()}}


@check("new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=AS_ON_CPU)
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
