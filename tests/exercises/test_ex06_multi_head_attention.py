"""ex06: attention in several heads."""

from autograder.checks import Dropout, Raises, Same, check

CLASS = "MultiHeadAttention"


def multi_head(impl, given, D, H, *, dropout=0.1, dtype="float32", train=False):
    """Return the module with known weights, as the contract names them."""
    names = ("w_q.weight", "w_k.weight", "w_v.weight", "w_o.weight")
    shapes = {**dict.fromkeys(names, (D, D)), "w_o.bias": (D,)}
    return given.load(impl.MultiHeadAttention(D, H, dropout), shapes, dtype=dtype, train=train)


def three_sequences(given, dtype="float32"):
    """Return query (B, T, D), key and value (B, S, D), each a sequence of its own."""
    B, T, S, D = given.sizes("B T S D")
    return [given.normal(B, length, D, dtype=dtype) for length in (T, S, S)]


@check("heads attend side by side, and the output projection mixes them", points=4, of=CLASS)
def test_self_attention(impl, given):
    B, T, D, H = given.sizes("B T D H")
    x = given.normal(B, T, D)
    return multi_head(impl, given, D, H)(x, x, x)


@check("head h attends with columns h*K to (h+1)*K - 1", points=3, of=CLASS)
def test_head_columns(impl, given):
    B, T, D, H = given.sizes("B T D H")
    x = given.normal(B, T, D)
    module = multi_head(impl, given, D, H)
    module(x, x, x)
    return {"attention_weights": module.attention_weights}


@check("query, key and value may be three sequences", points=4, of=CLASS)
def test_three_sequences(impl, given):
    D, H = given.sizes("D H")
    return multi_head(impl, given, D, H)(*three_sequences(given))


@check("a mask of any form holds in every head", points=4, of=CLASS, judge=Same(exact_zeros=True))
def test_mask(impl, given):
    B, T, S, D, H = given.sizes("B T S D H")
    module = multi_head(impl, given, D, H)
    inputs = three_sequences(given)

    def masked(*shape):
        output = module(*inputs, given.mask(*shape))
        return {"output": output, "attention_weights": module.attention_weights}

    return {
        "mask (B, H, T, S)": masked(B, H, T, S),
        "mask (B, 1, 1, S)": masked(B, 1, 1, S),
        "mask (T, S)": masked(T, S),
        "mask (B, T, S)": masked(B, T, S),
    }


@check("attention_weights are those of the latest call, before dropout, detached", points=2, of=CLASS)
def test_weights_kept(impl, given):
    D, H = given.sizes("D H")
    module = multi_head(impl, given, D, H, dropout=0.5, train=True)
    kept = []
    for _ in range(2):
        module(*three_sequences(given))
        kept.append(module.attention_weights)
    return {
        "first call": kept[0],
        "second call": kept[1],
        "attached": any(getattr(each, "requires_grad", False) for each in kept),
    }


@check("dropout acts on the weights, in training only", points=3, of=CLASS, judge=Dropout(0.5))
def test_dropout(impl, given):
    B, D = given.sizes("B D")
    module = multi_head(impl, given, D, 1, dropout=0.5)
    query, memory = given.normal(B, 600, D), given.normal(B, 1, D)
    bias = module(query * 0, memory * 0, memory * 0)

    # A single key has weight 1, of which dropout makes 0 or 2: a query takes the whole value twice, or none of it.
    taken = module(query, memory, memory) - bias
    dropped = module.train()(query, memory, memory) - bias
    return {"eval": taken[..., 0], "train": dropped[..., 0]}


@check("the gradients of query, key and value are right", points=2, of=CLASS, judge=Same(tolerance=1e-4))
def test_gradients(impl, given):
    D, H = given.sizes("D H")
    inputs = [each.requires_grad_() for each in three_sequences(given)]
    output = multi_head(impl, given, D, H)(*inputs)
    query, key, value = given.gradients(output, *inputs)
    return {"of the query": query, "of the key": key, "of the value": value}


@check("four projections are trained, and only the last has a bias", points=1, of=CLASS)
def test_parameters(impl, given):
    D, H = given.sizes("D H")
    return given.trainable(impl.MultiHeadAttention(D, H))


@check(
    "a d_model that the heads cannot share is refused, with both numbers",
    points=1,
    of=CLASS,
    judge=Raises(("ValueError", "AssertionError")),
)
def test_indivisible(impl, given):
    D, H = given.sizes("D H")
    return given.raises(lambda: impl.MultiHeadAttention(D + 1, H), D + 1, H)


@check("float64, bfloat16 and float16 stay what they are", points=1, of=CLASS)
def test_dtypes(impl, given):
    D, H = given.sizes("D H")
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        module = multi_head(impl, given, D, H, dtype=dtype)
        output = module(*three_sequences(given, dtype))
        seen[dtype] = {"output": output, "attention_weights": module.attention_weights}
    # A scale made in float32 is no mistake: of float64 the dtype counts, and the values as far as float32 goes.
    seen["float64"] = {name: each is not None and [each.dtype, each.float()] for name, each in seen["float64"].items()}
    return seen
