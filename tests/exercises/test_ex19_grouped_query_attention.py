"""ex19: attention with fewer key-value heads than query heads, with rotation and a cache.

The rotation and the cache are made here. Most checks judge only their claim, so that one fault fails few of them.
"""

from autograder.checks import Like, Raises, SameInputs, check, picture

CLASS = "GroupedQueryAttention"
COMPUTED = ("shared_heads", "positions", "modes", "end_of_keys")  # one of them passes unless nothing is computed
FEW = 4  # features are enough if all features are computed in the same way
AS_ON_CPU = Like(tolerance=1e-4, free=("output", "slope along the parameters"))
BASE = 50.0  # of the rotation: small, so that every pair of features turns far within a few positions


def rotation(given, K, limit=99):
    """Return a module that rotates adjacent features by their position, as ex17 does, with a table of `limit` rows."""
    torch = given.torch

    class Rotation(torch.nn.Module):
        def forward(self, x, token_positions=None):
            places = torch.arange(x.size(-2), device=x.device) if token_positions is None else token_positions
            if places.numel() > 0 and not 0 <= int(places.min()) <= int(places.max()) < limit:
                raise ValueError(
                    f"positions {int(places.min())} to {int(places.max())}, but the table has {limit} rows"
                )
            speeds = BASE ** (-torch.arange(0, K, 2, device=x.device, dtype=torch.float64) / K)
            angles = places.to(torch.float64).unsqueeze(-1) * speeds  # (T, K/2) or (B, T, K/2)
            if angles.dim() == 3 and x.dim() == 4:
                angles = angles.unsqueeze(1)
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
            even, odd = x[..., ::2], x[..., 1::2]
            return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    return Rotation()


class Cache:
    """All that the contract promises of a cache: `length` and `update`. With `most`, it returns the last keys alone."""

    def __init__(self, given, most=None):
        self.length = 0
        self._join, self._most, self._got, self._kept = given.torch.cat, most, [], None

    def got(self, call):
        """Return keys and values of that update, or None twice."""
        return self._got[call] if call < len(self._got) else (None, None)

    def update(self, keys, values):
        self._got.append((keys, values))
        self.length += keys.size(2)
        both = (keys, values)
        if self._kept is not None:
            both = tuple(self._join([old, new], dim=2) for old, new in zip(self._kept, both, strict=True))
        self._kept = both if self._most is None else tuple(tensor[:, :, -self._most :] for tensor in both)
        return both


def shapes_of(D, H, G):
    """Return the shapes of the parameters, by the contract's names."""
    kv = D // H * G
    return {
        "q_proj.weight": (D, D),
        "k_proj.weight": (kv, D),
        "v_proj.weight": (kv, D),
        "output_proj.weight": (D, D),
    }


def alike(given, D, H, G):
    """Return weights under which all columns of queries, keys and values are one: any head may read any of them."""
    column, state = given.normal(1, D, scale=0.7 * D**-0.5), {}
    for name, (rows, _) in shapes_of(D, H, G).items():
        state[name] = (
            given.normal(rows, D, scale=1.2 * D**-0.5) if name.startswith("output") else column.repeat(rows, 1)
        )
    return state


def grouped(impl, given, *, rope=None, dtype="float32", heads="alike", strict=False):
    """Return the module with known weights, as far as it has them: those of `alike`, or "different" ones.

    Draw the inputs before it. One check alone wants all weights.
    """
    D, H, G = given.sizes("D H G")
    module = impl.GroupedQueryAttention(d_model=D, num_heads=H, num_kv_heads=G, rope=rope)
    if heads == "different":
        return given.load(module, shapes_of(D, H, G), dtype=dtype, strict=strict)
    return given.fill(module, alike(given, D, H, G), dtype=dtype, strict=False)


def pair(impl, given):
    """Return two modules of the same weights, one with a rotation and one without, and the rotation."""
    D, H, G, K = given.sizes("D H G K")
    rope, state = rotation(given, K), alike(given, D, H, G)
    made = [
        impl.GroupedQueryAttention(d_model=D, num_heads=H, num_kv_heads=G, rope=positions) for positions in (rope, None)
    ]
    return *(given.fill(module, state, strict=False) for module in made), rope


def tokens(given, T=None, dtype="float32"):
    """Return (B, T, D)."""
    B, D = given.sizes("B D")
    return given.normal(B, T or given.size("T"), D, dtype=dtype)


def rotated(rope, keys, places):
    """Return the keys rotated; None if there are none, or if their shape is wrong."""
    return rope(keys, places) if keys is not None and keys.size(-2) == len(places) else None


def last_query(weights):
    """Return the weights of the last query, or what is there in place of a tensor of four axes."""
    return weights[:, :, -1] if getattr(weights, "ndim", None) == 4 else weights


def zeros_of(weights):
    """Return where the weights are 0, or None if there are none."""
    return None if weights is None else weights == 0


LOGARITHM = "logarithm of attention_weights of the last query, up to shift and scale"


def logarithms(weights):
    """Return the logarithm of the weights of the last query, shifted and scaled: no mask and no factor changes it."""
    if getattr(weights, "ndim", None) != 4:
        return weights
    scores = weights[:, :, -1].clamp_min(1e-30).log()
    scores = scores - scores.mean(dim=-1, keepdim=True)
    return scores / scores.std()


@check("each head is repeated in a row, also a single one", points=2, of="repeat_kv")
def test_repeat_kv(impl, given):
    B, G, S, K, M = given.sizes("B G S K M")
    x = given.normal(B, G, S, K)
    return {
        "heads": impl.repeat_kv(x, groups=M)[..., :FEW],
        "groups = 1": impl.repeat_kv(x, groups=1)[..., :1],
        "groups = 1 of one head with one token": impl.repeat_kv(x[:1, :1, :1], groups=1)[..., :FEW],
        "x after the call": x[..., :1],
    }


@check("all heads attend to the tokens up to their own, and are mixed", points=4, of=CLASS)
def test_grouped(impl, given):
    x = tokens(given)
    return grouped(impl, given, heads="different", strict=True)(x)


@check("query head h reads key-value head h // M", points=3, of=CLASS)
def test_shared_heads(impl, given):
    x = tokens(given)
    module = grouped(impl, given, heads="different")
    module(x)
    return {LOGARITHM: logarithms(module.attention_weights)}


@check("a token sees no later token", points=2, of=CLASS, judge=Like(tolerance=1e-4, exact_zeros=True))
def test_causal(impl, given):
    T = given.size("T")
    x = tokens(given)
    changed = given.number(1, T - 1)
    other = x.clone()
    other[:, changed:] += 1
    module = grouped(impl, given)
    before, after = module(x), module(other)
    return {
        "output before a changed token, compared with no change": [after[:, :changed, :FEW], before[:, :changed, :FEW]],
        "change of the rows from the changed token on": (after - before)[:, changed:, :FEW],
        "where weights are 0": zeros_of(module.attention_weights),
    }


@check("no mask opens the future, and a mask of any shape applies", points=3, of=CLASS, judge=Like(exact_zeros=True))
def test_mask(impl, given):
    B, T, H = given.sizes("B T H")
    x = tokens(given)
    forms = {"(T, S)": (T, T), "(B, T, S)": (B, T, T), "(B, H, T, S)": (B, H, T, T), "(B, 1, 1, S)": (B, 1, 1, T)}
    masks = {f"mask {form}": given.mask(*shape) for form, shape in forms.items()}
    module, seen = grouped(impl, given), {}
    for name, mask in masks.items():
        mask[..., 0] = True  # so that no row is blocked as a whole
        module(x, mask=mask)
        seen[name] = {"where weights are 0": zeros_of(module.attention_weights)}
    module(x, mask=mask, token_positions=given.torch.arange(T, device=given.device))
    seen["mask and token_positions"] = {"where weights are 0": zeros_of(module.attention_weights)}
    everything = given.torch.ones(T, T, dtype=given.torch.bool, device=given.device)
    seen["output under an open mask, compared with no mask"] = [
        output[..., :FEW] for output in (module(x, mask=everything), module(x))
    ]
    return seen


@check("rope rotates queries and keys", points=2, of=CLASS)
def test_rotated(impl, given):
    x, rope = tokens(given)[:1], rotation(given, *given.sizes("K T"))  # no row beyond the text
    module = grouped(impl, given, rope=rope, heads="different")
    module(x)
    return {LOGARITHM: logarithms(module.attention_weights)}


@check("rope does not rotate the values", points=1, of=CLASS, judge=Like(tolerance=1e-4), requires_any=COMPUTED)
def test_values_kept(impl, given):
    x, itself = tokens(given)[:1], given.torch.eye(given.size("T"), dtype=given.torch.bool, device=given.device)
    rotating, plain, _ = pair(impl, given)
    outputs = [module(x, mask=itself)[..., :FEW] for module in (rotating, plain)]
    rotating(x)
    return {"output of tokens that see only themselves, with rope and without": outputs}


@check("token_positions reach rope", points=2, of=CLASS)
def test_positions(impl, given):
    B, T, K = given.sizes("B T K")
    x = tokens(given)
    rows, batches = given.integers(0, 50, T), given.integers(0, 50, B, T)
    module, seen = grouped(impl, given, rope=rotation(given, K)), {}
    for name, places in {"(T,)": rows, "(B, T)": batches}.items():
        module(x, token_positions=places)
        seen[f"{LOGARITHM}, positions {name}"] = logarithms(module.attention_weights)
    module(x, mask=given.torch.ones(T, T, dtype=given.torch.bool, device=given.device), token_positions=rows)
    seen[f"{LOGARITHM}, positions and an open mask"] = logarithms(module.attention_weights)
    return seen


@check(
    "the cache gets G key-value heads, with rotated keys",
    points=4,
    of=CLASS,
    judge=Like(tolerance=1e-4, likeness=0.2),
    requires_any=COMPUTED,
)
def test_cache_contents(impl, given):
    T = given.size("T")
    x, places = tokens(given, 2 * T)[:1], given.torch.arange(2 * T, device=given.device)
    rotating, plain, rope = pair(impl, given)
    caches = []
    for module in (rotating, plain):
        cache = Cache(given)
        module(x[:, :T], cache=cache)
        module(x[:, T:], cache=cache)
        caches.append(cache)
    (first, values), (plain_first, plain_values) = (cache.got(0) for cache in caches)
    (keys, _), (plain_keys, _) = (cache.got(1) for cache in caches)
    return {
        "keys of the first tokens": first,
        "keys of the first tokens, and rotated here": [first, rotated(rope, plain_first, places[:T])],
        "keys of the next tokens, and rotated here": [keys, rotated(rope, plain_keys, places[T:])],
        "values of the first tokens, with rope and without": [values, plain_values],
        "length of the cache": caches[0].length,
    }


@check(
    "tokens that come in chunks give the output of a single pass",
    points=5,
    of=CLASS,
    judge=Like(tolerance=1e-3, likeness=0.2),
)
def test_chunks(impl, given):
    S, K = given.sizes("S K")
    text, rope = tokens(given, S)[:1], rotation(given, K)
    masks = {1: None, 3: given.mask(S, S), 7: given.mask(1, 1, S, S)}
    module, seen = grouped(impl, given, rope=rope), {}
    for (chunk, mask), length in zip(masks.items(), (4, 7, S), strict=True):
        if mask is not None:
            mask = mask[..., :length, :length]
            mask[..., 0] = True
        x, cache, parts = text[:, :length], Cache(given), []
        whole = module(x, mask=mask)
        for start in range(0, length, chunk):
            end = min(start + chunk, length)
            piece = None if mask is None else mask[..., start:end, :end]
            parts.append(module(x[:, start:end], mask=piece, cache=cache))
        both = [given.torch.cat(parts, dim=1), whole]
        seen[f"output of chunks of {chunk}, and of all at once"] = [output[..., :FEW] for output in both]
    return seen


@check(
    "the queries stand at the end of the keys that the cache returns",
    points=2,
    of=CLASS,
    judge=Like(exact_zeros=True),
)
def test_end_of_keys(impl, given):
    S = given.size("S") + given.number(0, 20)
    x = tokens(given, S + 3)[:1]
    module, cache, seen = grouped(impl, given), Cache(given, most=4), {}
    for start, end in ((0, S - 2), (S - 2, S), (S, S + 3)):  # keys that the cache drops count in its length
        module(x[:, start:end], cache=cache)
        seen[f"where weights are 0, after {end} tokens"] = zeros_of(module.attention_weights)
    return seen


@check(
    "token_positions win over the length of the cache",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-4),
    requires_any=COMPUTED,
)
def test_positions_and_cache(impl, given):
    T = given.size("T")
    x, places = tokens(given)[:1], given.integers(0, 50, T)
    rotating, plain, rope = pair(impl, given)
    caches = []
    for module in (rotating, plain):
        cache = Cache(given)
        module(x, token_positions=places, cache=cache)
        caches.append(cache)
    (keys, _), (plain_keys, _) = (cache.got(0) for cache in caches)
    return {"keys in the cache, and rotated here": [keys, rotated(rope, plain_keys, places)]}


@check("num_kv_heads may be 1, and is num_heads if it is left out", points=2, of=CLASS)
def test_head_counts(impl, given):
    D, H, G = given.sizes("D H G")
    x = tokens(given)
    usual = given.fill(impl.GroupedQueryAttention(d_model=D, num_heads=H), alike(given, D, H, H))
    single = given.fill(impl.GroupedQueryAttention(d_model=D, num_heads=H, num_kv_heads=1), alike(given, D, H, 1))
    seen = {}
    for name, module in {"left out": usual, "of 1": single}.items():
        module(x)
        seen[f"{LOGARITHM}, num_kv_heads {name}"] = logarithms(module.attention_weights)
        seen |= {f"num_heads, num_kv_heads {name}": module.num_heads, f"num_kv_heads {name}": module.num_kv_heads}
    rope = rotation(given, D // H)
    kept = impl.GroupedQueryAttention(d_model=D, num_heads=H, num_kv_heads=G, rope=rope)
    return {
        **seen,
        "rope is the one given": kept.rope is rope,
        "rope left out is None": usual.rope is None,
        "num_kv_heads of G": kept.num_kv_heads,
    }


OTHERS = "output of the other queries, compared with no query blocked"
FREE = (OTHERS, "output of the blocked query", "gradient of x", "output at large scores, compared with usual ones")


@check(
    "large scores do not overflow, and a query with nothing to attend to stays finite",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=FREE),
)
def test_large_scores(impl, given):
    T = given.size("T")
    x, mask = tokens(given)[:1].requires_grad_(), given.mask(1, 1, T, T)
    mask[..., 0] = True
    blocked = given.number(1, T)
    others = [row for row in range(T) if row != blocked]
    module, itself = grouped(impl, given), given.torch.eye(T, dtype=given.torch.bool, device=given.device)
    before = module(x, mask=mask)
    shut = mask.clone()
    shut[:, :, blocked] = False
    output = module(x, mask=shut)
    gradient = given.gradients(output, x)[0]
    large = [module(size * x, mask=itself)[..., :FEW] / size for size in (1000.0, 1.0)]
    module(x)
    return {
        OTHERS: [tensor[:, others, :FEW] for tensor in (output, before)],
        "output of the blocked query": output[:, blocked],
        "gradient of x": gradient if gradient is None else gradient.sum(dim=0),
        "output at large scores, compared with usual ones": large,
        "attention_weights, last query": last_query(module.attention_weights),
    }


@check("the inputs are not modified", points=1, of=CLASS, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    B, T, K = given.sizes("B T K")
    x, mask, places = tokens(given), given.mask(B, 1, T, T), given.integers(0, 50, T)
    grouped(impl, given, rope=rotation(given, K))(x, mask=mask, token_positions=places)
    return {"x": x[..., :FEW], "mask": mask, "token_positions": places}


@check("attention_weights are those of the latest call, for all heads, detached", points=1, of=CLASS, judge=Like())
def test_weights_kept(impl, given):
    calls, module, kept = (tokens(given)[:1], tokens(given)[:1]), grouped(impl, given), []
    for x in calls:
        module(x)
        kept.append(module.attention_weights)
    return {
        "attention_weights of the first call, last query": last_query(kept[0]),
        "attention_weights of the latest call, last query": last_query(kept[1]),
        "shape of attention_weights": list(getattr(kept[1], "shape", [])),
        "attention_weights are attached to the graph": any(getattr(weights, "requires_grad", None) for weights in kept),
    }


@check("training mode and eval mode give the same", points=1, of=CLASS, judge=Like(tolerance=1e-4))
def test_modes(impl, given):
    x, module = tokens(given)[:1], grouped(impl, given, heads="different")
    outputs = [module.train(mode)(x)[..., :FEW] for mode in (True, False)]
    return {"output in training, and in eval mode": outputs}


SLOPES = ("gradient of x, compared with small steps",)


@check("the gradient of x is right", points=1, of=CLASS, judge=Like(tolerance=1e-3, free=SLOPES))
def test_gradients(impl, given):
    x = given.normal(1, *given.sizes("T D"), dtype="float64")
    module = grouped(impl, given, rope=rotation(given, given.size("K")), dtype="float64")
    found = dict(zip(SLOPES, given.slopes(module, x), strict=True))
    module(x)
    return {**found, "attention_weights, last query": last_query(module.attention_weights)}


@check("four projections without a bias are trained", points=1, of=CLASS, requires_any=COMPUTED)
def test_parameters(impl, given):
    H, G = given.sizes("H G")
    return given.trainable(impl.GroupedQueryAttention(d_model=H * given.number(3, 99), num_heads=H, num_kv_heads=G))


@check(
    "a d_model not divisible by num_heads raises an error with both numbers",
    points=1,
    of=CLASS,
    judge=Raises(("ValueError", "AssertionError")),
    requires_any=COMPUTED,
)
def test_indivisible(impl, given):
    H = given.number(5, 50)
    D = H * given.number(2, 20) + given.number(1, H)
    return given.raises(lambda: impl.GroupedQueryAttention(d_model=D, num_heads=H, num_kv_heads=1), D, H)


@check(
    "a num_heads not divisible by num_kv_heads raises an error with both numbers",
    points=1,
    of=CLASS,
    judge=Raises(("ValueError", "AssertionError")),
    requires_any=COMPUTED,
)
def test_indivisible_groups(impl, given):
    G = given.number(5, 20)
    H = G * given.number(2, 9) + given.number(1, G)
    D = H * G
    return given.raises(lambda: impl.GroupedQueryAttention(d_model=D, num_heads=H, num_kv_heads=G), H, G)


@check(
    "float64, bfloat16 and float16 inputs keep their dtype", points=1, of=CLASS, judge=Like(tolerance=0.06), trials=1
)
def test_dtypes(impl, given):
    T, K = given.sizes("T K")
    mask, seen = given.mask(T, T), {}
    mask[:, 0] = True
    for dtype in ("float64", "bfloat16", "float16"):
        x = tokens(given, dtype=dtype)[:1]
        module = grouped(impl, given, rope=rotation(given, K), dtype=dtype)
        cache = Cache(given)
        output, weights = module(x, mask=mask, cache=cache), module.attention_weights
        wide = module.float()(x.float(), mask=mask)
        seen[dtype] = {
            "output, compared with float32": [output[..., :FEW].float(), wide[..., :FEW]],
            "output": output[..., :1],
            "attention_weights, last query": last_query(weights),
        }
    return seen


@check(
    "new tensors are on the device of the input",
    points=1,
    of=CLASS,
    trials=1,
    judge=AS_ON_CPU,
    requires_any=COMPUTED,
)
def test_device(impl, given):
    T, K = given.sizes("T K")
    x, mask = tokens(given), given.mask(T, T)
    mask[:, 0] = True
    module = grouped(impl, given, rope=rotation(given, K))

    def run(device):
        output = module.to(device)(x.to(device), mask=mask.to(device))
        return output, module.attention_weights

    here, weights = run("cpu")  # a tensor kept from this call must not be used on the other device
    with given.another_device() as device:
        there, weights_there = run(device)
        return {
            "output": [there[..., :FEW], here[..., :FEW]],
            "attention_weights, last query": [last_query(weights_there), last_query(weights)],
            "slope along the parameters": given.slope(there, *module.parameters()),
        }


@picture("which key-value head each query head reads", rows="query head", columns="key-value head")
def picture_groups(impl, given):
    H, G = 8, 2
    numbered = given.torch.eye(G, device=given.device).view(1, G, 1, G)  # head g holds a 1 as its feature g
    queries, shared = ([f"{name} {i}" for i in range(count)] for name, count in (("head", H), ("kv head", G)))
    return impl.repeat_kv(numbered, groups=H // G)[0, :, 0], queries, shared
