"""ex06: attention in several heads. The first check compares all numbers. Each of the others judges only its claim,
so that one fault fails few of them."""

from autograder.checks import Dropout, Like, Raises, SameInputs, check, picture

CLASS = "MultiHeadAttention"
# One of them passes unless nothing is computed.
COMPUTED = ("self_attention", "head_columns", "three_sequences", "dropout")
FEW = 4  # features are enough if all features are computed in the same way
SLOPES = tuple(f"gradient of the {name}, compared with small steps" for name in ("query", "key", "value"))
OUTPUT_FREE = Like(
    free=(
        "output, compared with float32",
        "output under a mask, compared with float32",
        "output of the blocked query",
        "attention_weights",
    )
)  # one fault can change all numbers, so these need not resemble those of the solution
AS_ON_CPU = Like(tolerance=1e-4, free=("output", "attention_weights", "slope along the parameters"))


def multi_head(impl, given, D, H, *, dropout=0.0, dtype="float32", train=False, heads="alike"):
    """Return the module with known weights, as the contract names them. Draw the inputs before it.

    If heads are "alike", every column of query, key and value has the same weights, so it does not matter which of them
    a head gets, nor which projection. If they are "different", it does. Only "whole" ones have to have every weight.
    dropout=None uses the default rate.
    """
    module = impl.MultiHeadAttention(D, H) if dropout is None else impl.MultiHeadAttention(D, H, dropout)
    projections = ("w_q.weight", "w_k.weight", "w_v.weight")
    if heads == "alike":
        column = given.normal(1, D, scale=D**-0.5).repeat(D, 1)
        state = dict.fromkeys(projections, column) | {"w_o.weight": given.normal(D, D), "w_o.bias": given.normal(D)}
        return given.fill(module, state, dtype=dtype, train=train, strict=False)
    shapes = dict.fromkeys((*projections, "w_o.weight"), (D, D)) | {"w_o.bias": (D,)}
    return given.load(module, shapes, dtype=dtype, train=train, strict=heads == "whole")


def sequences(given, lengths=None, dtype="float32"):
    """Return query (B, T, D), key and value (B, S, D): separate sequences of the lengths T and S, or copies of one."""
    B, S, D = given.sizes("B S D")
    if lengths is None:
        x = given.normal(B, S, D, dtype=dtype)
        return [x, x.clone(), x.clone()]
    T, S = lengths
    return [given.normal(B, length, D, dtype=dtype) for length in (T, S, S)]


@check("all heads attend, and the output projection mixes them", points=5, of=CLASS)
def test_self_attention(impl, given):
    B, T, D, H = given.sizes("B T D H")
    x = given.normal(B, T, D)
    return multi_head(impl, given, D, H, heads="whole")(x, x, x)


LOGARITHM = "logarithm of attention_weights, up to shift and scale"


@check("head h attends with columns h*K to (h+1)*K - 1", points=3, of=CLASS)
def test_head_columns(impl, given):
    B, T, D, H = given.sizes("B T D H")
    x = given.normal(B, T, D)
    module = multi_head(impl, given, D, H, heads="different")
    module(x, x, x)
    weights = module.attention_weights
    if not isinstance(weights, given.torch.Tensor):
        return {LOGARITHM: weights}
    scores = weights.log()
    scores = scores - scores.mean(dim=-1, keepdim=True)
    return {LOGARITHM: scores / scores.std()}


@check("query, key and value may be three different sequences", points=3, of=CLASS, judge=Like(tolerance=1e-3))
def test_three_sequences(impl, given):
    D, H = given.sizes("D H")
    lengths = sorted(given.sizes("T S"))  # fewer queries than keys, so that keys cut to T fail
    inputs = sequences(given, lengths)
    module = multi_head(impl, given, D, H)
    output = module(*inputs)
    query, key, value = inputs
    bias = module(query, key, value * 0)
    twice = module(query, key, value * 2)
    seen = {}
    for i, name in enumerate(("query", "key", "value")):
        others = [tensor.clone() for tensor in inputs]
        others[i][:, -1] += 1
        seen[f"change of the output if the last {name} changes"] = (module(*others) - output)[..., :FEW]
    ways = {
        "output for twice the value, compared with twice the output": [twice - bias, 2 * (output - bias)],
        "attention to a copy, compared with self-attention": [
            module(key, key.clone(), key.clone()),
            module(key, key, key),
        ],
        "key and value as one tensor, compared with two": [module(query, key, key), module(query, key, key.clone())],
        "query and key as one tensor, compared with two": [module(key, key, value), module(key.clone(), key, value)],
    }
    return {**seen, **{name: [tensor[..., :FEW] for tensor in both] for name, both in ways.items()}}


MASKED = (
    "output, compared with other values at blocked keys",
    "output under an open mask, compared with no mask",
)


@check(
    "a mask of any shape applies to every head",
    points=4,
    of=CLASS,
    judge=Like(tolerance=1e-4, exact_zeros=True, free=MASKED),
    requires_any=COMPUTED,
)
def test_mask(impl, given):
    B, S, D, H = given.sizes("B S D H")
    query, key, value = sequences(given)
    forms = {"(B, H, T, S)": (B, H, S, S), "(B, 1, 1, S)": (B, 1, 1, S), "(T, S)": (S, S), "(B, T, S)": (B, S, S)}
    masks = {f"mask {form}": given.mask(*shape) for form, shape in forms.items()}
    padding, replacement = masks["mask (B, 1, 1, S)"], given.normal(B, S, D)
    module = multi_head(impl, given, D, H)
    seen = {}
    for name, mask in masks.items():
        module(query, key, value, mask)
        weights = module.attention_weights
        seen[name] = {"where weights are 0": weights == 0 if isinstance(weights, given.torch.Tensor) else weights}
    output, replaced = module(query, key, value, padding), value.where(padding.view(B, S, 1), replacement)
    free = module(query, key, value, given.torch.ones_like(padding))
    twice = multi_head(impl, given, D, H, dtype="float64")
    twice(*(tensor.double() for tensor in (query, key, value)), masks["mask (T, S)"])
    if isinstance(twice.attention_weights, given.torch.Tensor):
        seen["mask (T, S)"]["where weights are 0 in float64"] = twice.attention_weights == 0
    seen[MASKED[0]] = [tensor[..., :FEW] for tensor in (output, module(query, key, replaced, padding))]
    seen[MASKED[1]] = [tensor[..., :FEW] for tensor in (free, module(query, key, value))]
    return seen


LARGE = Like(tolerance=1e-3, free=("output at large scores, compared with usual ones", "attention_weights"))


@check(
    "large scores do not overflow, and blocked keys stay blocked",
    points=1,
    of=CLASS,
    judge=LARGE,
    requires_any=COMPUTED,
)
def test_large_scores(impl, given):
    S, D, H = given.sizes("S D H")
    query, key, value = sequences(given)
    module, itself = multi_head(impl, given, D, H), given.torch.eye(S, dtype=given.torch.bool, device=given.device)
    # A query that sees one key gives it all the weight, however far its score is below those of the others.
    outputs = [module(size * query, -size * key, value, itself)[..., :FEW] for size in (1000.0, 1.0)]
    module(query, key, value)
    return {"output at large scores, compared with usual ones": outputs, "attention_weights": module.attention_weights}


OTHERS = "output of the other queries, compared with no query blocked"
FREE = (OTHERS, "output of the blocked query", *(f"gradient of the {name}" for name in ("query", "key", "value")))


@check(
    "a query with nothing to attend to stays finite, with finite gradients",
    points=1,
    of=CLASS,
    judge=Like(free=(*FREE, "attention_weights")),
    requires_any=COMPUTED,
)
def test_nothing_to_attend_to(impl, given):
    B, S, D, H = given.sizes("B S D H")
    inputs, mask = [tensor.requires_grad_() for tensor in sequences(given)], given.mask(B, 1, S, S)
    blocked = given.number(0, S)
    others = [row for row in range(S) if row != blocked]
    module = multi_head(impl, given, D, H)

    before = module(*inputs, mask)
    mask[:, :, blocked] = False
    output = module(*inputs, mask)
    gradients = given.gradients(output, *inputs)
    seen = {"output of the blocked query": output[:, blocked]}
    for name, gradient in zip(FREE[2:], gradients, strict=True):
        seen[name] = gradient if gradient is None else gradient.sum(dim=0)
    seen[OTHERS] = [tensor[:, others, :FEW] for tensor in (output, before)]
    module(*inputs)
    seen["attention_weights"] = module.attention_weights
    return seen


@check("the inputs are not modified", points=1, of=CLASS, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    B, S, D, H = given.sizes("B S D H")
    inputs, mask = sequences(given), given.mask(B, 1, S, S)
    multi_head(impl, given, D, H)(*inputs, mask)
    return {**dict(zip(("query", "key", "value"), inputs, strict=True)), "mask": mask}


KEPT = Like(
    free=(
        "attention_weights of the first call, compared with no dropout",
        "attention_weights of the latest call, compared with no dropout",
    )
)


@check(
    "attention_weights are from the latest call, before dropout, detached",
    points=2,
    of=CLASS,
    judge=KEPT,
    requires_any=COMPUTED,
)
def test_weights_kept(impl, given):
    D, H = given.sizes("D H")
    calls = sequences(given), sequences(given)
    module = multi_head(impl, given, D, H, dropout=0.5, train=True)
    kept = []
    for inputs in calls:
        module(*inputs)
        kept.append(module.attention_weights)
    module.eval()
    pairs = []
    for weights, inputs in zip(kept, calls, strict=True):
        module(*inputs)
        pairs.append([weights, module.attention_weights])
    return {
        **dict(zip(KEPT.free, pairs, strict=True)),
        "attention_weights are attached to the graph": any(getattr(weights, "requires_grad", None) for weights in kept),
    }


@check("dropout acts on the weights, only in training", points=3, of=CLASS, judge=Dropout(0.25), trials=1)
def test_dropout(impl, given):
    # A single token has weight 1. Dropout makes it 0 or 4/3, so the token gets none of its value, or more.
    x = given.normal(1200, 1, given.size("D"))
    module = multi_head(impl, given, given.size("D"), 1, dropout=0.25, heads="different")
    bias = module(x * 0, x * 0, x * 0)
    taken = (module(x, x, x) - bias)[..., 0]
    dropped = (module.train()(x, x, x) - bias)[..., 0]
    usual = multi_head(impl, given, given.size("D"), 1, dropout=None, heads="different")
    share = (usual.train()(x, x, x) == usual(x * 0, x * 0, x * 0)).float().mean()
    return {"eval": taken, "train": dropped, "share dropped at the default rate, in tenths": round(10 * float(share))}


@check(
    "the gradients of query, key and value are right",
    points=2,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=(*SLOPES, "attention_weights")),
    requires_any=COMPUTED,
)
def test_gradients(impl, given):
    S, D, H = given.sizes("S D H")
    inputs = [given.normal(4, S, D, dtype="float64") for _ in range(3)]
    module = multi_head(impl, given, D, H, dtype="float64")
    found = dict(zip(SLOPES, given.slopes(module, *inputs), strict=True))
    module(*inputs)
    return {**found, "attention_weights": module.attention_weights[:2]}


@check("four projections are trained, and only the last has a bias", points=1, of=CLASS, requires_any=COMPUTED)
def test_parameters(impl, given):
    H = given.size("H")
    return given.trainable(impl.MultiHeadAttention(d_model=H * given.number(3, 99), num_heads=H, dropout=0.2))


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
    return given.raises(lambda: impl.MultiHeadAttention(D, H), D, H)


@check(
    "float64, bfloat16 and float16 inputs keep their dtype",
    points=1,
    of=CLASS,
    judge=OUTPUT_FREE,
    trials=1,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    S, D, H = given.sizes("S D H")
    mask, seen = given.mask(1, 1, S, S), {}
    mask[:, :, 0] = False
    for dtype in ("float64", "bfloat16", "float16"):
        inputs = [tensor[:1] for tensor in sequences(given, dtype=dtype)]
        module = multi_head(impl, given, D, H, dtype=dtype)
        output, weights = module(*inputs), module.attention_weights
        masked = module(*inputs, mask)
        inputs = [tensor.float() for tensor in inputs]
        wide, wide_masked = module.float()(*inputs), module(*inputs, mask)
        seen[dtype] = {
            "output, compared with float32": [output[..., :FEW], wide[..., :FEW]],
            "output under a mask, compared with float32": [masked[:, 1:, :FEW], wide_masked[:, 1:, :FEW]],
            "output of the blocked query": masked[:, 0],
            "attention_weights": weights,
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
    B, S, D, H = given.sizes("B S D H")
    inputs, mask = sequences(given), given.mask(B, 1, S, S)
    module = multi_head(impl, given, D, H)

    def run(device):
        output = module.to(device)(*(tensor.to(device) for tensor in (*inputs, mask)))
        return output, module.attention_weights

    here, weights = run("cpu")  # a tensor kept from this call must not be used on the other device
    with given.another_device() as device:
        there, weights_there = run(device)
        return {
            "output": [there[..., :FEW], here[..., :FEW]],
            "attention_weights": [weights_there, weights],
            "slope along the parameters": given.slope(there, *module.parameters()),
        }


LOOKS_FOR = {  # the words of a sentence, and the words that each of them looks for
    "the": ["cat"],
    "cat": ["drank"],
    "drank": ["cat", "milk"],
    "milk": ["drank"],
    "as": ["drank", "thirsty"],
    "it": ["cat"],
    "was": ["thirsty"],
    "thirsty": ["cat", "it"],
}


def heads_by_hand(impl, given):
    """Return the weights (2, T, T) of two heads: one looks at the previous word, the other at what a word looks for.

    The first features are the position of a word, the others are its identity.
    """
    words = list(LOOKS_FOR)
    T, same = len(words), given.tensor([[a == b for b in words] for a in words])
    none = same * 0
    before = given.tensor([[a == max(b - 1, 0) for b in range(T)] for a in range(T)])  # (wanted position, own position)
    asked = given.tensor([[a in LOOKS_FOR[b] for b in words] for a in words])  # (wanted word, own word)
    together = given.torch.cat
    state = {
        "w_q.weight": 9 * together([together([before, none], 1), together([none, asked], 1)]),
        "w_k.weight": together([together([same, none], 1), together([none, same], 1)]),
        "w_v.weight": together([together([same, none], 1), together([none, same], 1)]),
        "w_o.weight": together([together([same, none], 1), together([none, same], 1)]),
        "w_o.bias": none.new_zeros(2 * T),
    }
    module = given.fill(impl.MultiHeadAttention(2 * T, 2, 0.0), state)
    x = together([same, same], 1)[None]
    module(x, x, x)
    return module.attention_weights[0]


@picture("head 1: looks at the previous word", rows="query", columns="key; weights set by hand")
def picture_first_head(impl, given):
    return heads_by_hand(impl, given)[0], list(LOOKS_FOR), []


@picture("head 2: looks at requested words", rows="query", columns="key; weights set by hand")
def picture_second_head(impl, given):
    return heads_by_hand(impl, given)[1], list(LOOKS_FOR), []
