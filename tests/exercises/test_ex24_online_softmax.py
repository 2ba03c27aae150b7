"""ex24: attention in blocks of keys. Several checks compare all numbers, each on scores of another kind, because most
mistakes show only there. The checks of memory run under a limit: a line that makes a larger tensor is the mistake."""

from autograder.checks import Like, Raises, Same, SameInputs, check, picture

FUNCTION = "flash_attention"
RIGHT = ("output", "logsumexp")
AGREEING = Like(tolerance=1e-4)
CLOSE = Same(tolerance=1e-4)


LEADING = (1, 2)
"""Sequences and heads. Few are enough, since `leading_axes` judges that more of them work."""


def inputs(given, *leading, lengths=None, scale=1.0, dtype="float32"):
    """Return query (..., T, K), key (..., S, K) and value (..., S, F); T and S are those of the trial, or `lengths`."""
    K, F = given.sizes("K F")
    T, S = lengths or given.sizes("T S")
    query = given.normal(*leading, T, K, scale=scale, dtype=dtype)
    key = given.normal(*leading, S, K, scale=scale, dtype=dtype)
    return query, key, given.normal(*leading, S, F, dtype=dtype)


def square(given):
    """Return as many queries as keys, so that a wrong alignment of the two costs nothing in checks of other claims."""
    return (given.size("S"),) * 2


def flash(impl, tensors, block_size, **options):
    """Return output and logsumexp for copies of the tensors. Another check judges in-place writes."""
    output, logsumexp = impl.flash_attention(*(tensor.clone() for tensor in tensors), block_size, **options)
    return output, logsumexp


def both(impl, tensors, block_size, **options):
    """Observe the output and the logsumexp, whose dtype is free."""
    output, logsumexp = flash(impl, tensors, block_size, **options)
    return {"output": output, "logsumexp": logsumexp.float() if output.dtype.itemsize < 8 else logsumexp}


@check("the output is the attention of all keys, computed in blocks", points=3, of=FUNCTION)
def test_output(impl, given):
    S = given.size("S")
    output, _ = flash(impl, inputs(given, *LEADING, lengths=(given.size("T"), 3 * (S // 3))), 3)
    return {"output": output}


@check("the second result is the natural logsumexp of each query's scores", points=2, of=FUNCTION)
def test_logsumexp(impl, given):
    S = given.size("S")
    _, logsumexp = flash(impl, inputs(given, *LEADING, lengths=(given.size("T"), 3 * (S // 3))), 3)
    return {"logsumexp": logsumexp}


@check("one block with all keys gives the same as ordinary attention", points=1, of=FUNCTION)
def test_one_block(impl, given):
    S = given.size("S")
    return both(impl, inputs(given, *LEADING), S)


@check("block_size need not divide the number of keys, and may exceed it", points=2, of=FUNCTION)
def test_block_sizes(impl, given):
    S = given.size("S")
    tensors = inputs(given, *LEADING)
    sizes = (1, next(size for size in range(4, S) if S % size), S + given.number(3, 9))
    return {f"block_size {size} for {S} keys": both(impl, tensors, size) for size in sizes}


def ordered(given, step):
    """Return inputs whose scores rise from key to key by about `step`."""
    S, K = given.sizes("S K")
    query, key, value = inputs(given, *LEADING)
    query[..., 0] = K**0.5
    key[..., 0] = given.tensor([float(step * i) for i in range(S)])
    return query, key, value


@check("earlier blocks are corrected when a later block has the largest score", points=2, of=FUNCTION)
def test_rising(impl, given):
    return both(impl, ordered(given, 1), 3)


@check("the largest score may be far above those of later blocks", points=1, of=FUNCTION)
def test_falling(impl, given):
    return both(impl, ordered(given, -60), 2)  # a block falls by more than exp can undo: e^88 is the limit


@check("causal: a query sees the keys up to its own position", points=2, of=FUNCTION)
def test_causal(impl, given):
    S = given.size("S")
    return both(impl, inputs(given, *LEADING, lengths=(S, S)), 3, causal=True)


@check("causal: with fewer queries than keys, the last query stands at the last key", points=2, of=FUNCTION)
def test_causal_short(impl, given):
    tensors = inputs(given, *LEADING)
    one = [tensors[0][..., -1:, :], *tensors[1:]]
    return {**both(impl, tensors, 3, causal=True), "one query": both(impl, one, 4, causal=True)}


@check(
    "causal: a query with nothing to attend to stays finite, and the others are right",
    points=2,
    of=FUNCTION,
    judge=Like(tolerance=1e-4, free=("output of the queries before the first key",)),
)
def test_causal_long(impl, given):
    T, S = given.sizes("T S")
    query, key, value = inputs(given, *LEADING, lengths=(S, T))  # more queries than keys
    output, logsumexp = flash(impl, (query, key, value), 3, causal=True)
    closed = S - T
    alone, sums = flash(impl, (query[..., closed:, :], key, value), T)
    whole, whole_sums = flash(impl, (query[..., -1:, :], key, value), T)
    return {
        "output of the queries before the first key": output[..., :closed, :],
        "output of the last query, and without causal": [output[..., -1, :], whole[..., 0, :]],
        "logsumexp of the last query, and without causal": [logsumexp[..., -1:], whole_sums],
        "output of the others": output[..., closed:, :] - 0 * alone,
        "logsumexp of the others": logsumexp[..., closed:] - 0 * sums,
    }


def far(given, *numbers):
    """Return inputs whose scores are about these numbers, one for each query in turn."""
    T, K = given.sizes("T K")
    query, key, value = inputs(given, *LEADING)
    query[..., 0] = given.tensor([numbers[i % len(numbers)] * K**0.5 for i in range(T)])
    key[..., 0] = 1.0
    return query, key, value


@check("scores of 10,000 and more do not overflow", points=2, of=FUNCTION, judge=Same(tolerance=0.01))
def test_large_scores(impl, given):
    return both(impl, far(given, 10_000.0), 3)


@check("scores far below 0 do not vanish", points=2, of=FUNCTION, judge=Same(tolerance=0.01))
def test_low_scores(impl, given):
    return both(impl, far(given, -10_000.0), 3)


@check("each query has a maximum of its own", points=2, of=FUNCTION, judge=Same(tolerance=0.01))
def test_rows_apart(impl, given):
    return both(impl, far(given, 300.0, -200.0, 0.0), 3)


def long(given, more):
    """Return inputs of more than 32 queries and `more` keys than that, without leading axes, and a block size."""
    T = given.number(33, 40)
    return inputs(given, lengths=(T, T + more)), T, T + more, given.number(4, 7)


@check("no tensor has a number for each pair of query and key", points=3, of=FUNCTION, judge=CLOSE)
def test_no_score_matrix(impl, given):
    tensors, T, S, block = long(given, 0)
    seen = {}
    for causal in (False, True):
        output, sums = given.bounded(lambda causal=causal: flash(impl, tensors, block, causal=causal), T * S)
        seen["causal" if causal else "not causal"] = {"output": output[:, :3], "logsumexp": sums}
    return seen


@check("the scores of a query for all keys are never in one tensor", points=2, of=FUNCTION, judge=CLOSE)
def test_no_whole_row(impl, given):
    tensors, T, S, block = long(given, given.number(9, 17))
    copies = [tensor.clone() for tensor in tensors]
    output, sums = given.bounded(lambda: impl.flash_attention(*copies, block), T * S, axis=S, sources=(copies[0],))
    return {"output": output[:, :3], "logsumexp": sums}


@check("the backward pass makes no tensor of all scores either", points=2, of=FUNCTION, judge=CLOSE)
def test_no_score_matrix_backward(impl, given):
    tensors, T, S, block = long(given, 0)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    found = given.bounded(lambda: given.gradients(flash(impl, leaves, block, causal=True)[0], *leaves), T * S)
    names = ("query", "key", "value")
    return {f"gradient of the {name}": gradient for name, gradient in zip(names, found, strict=True)}


@check("the gradients of query, key and value are right", points=2, of=FUNCTION, judge=Like(tolerance=1e-3))
def test_gradients(impl, given):
    tensors = inputs(given, 1, 4, lengths=square(given), dtype="float64")
    names = [f"gradient of the {name}, compared with small steps" for name in ("query", "key", "value")]
    return dict(zip(names, given.slopes(lambda *at: flash(impl, at, 5, causal=True)[0], *tensors), strict=True))


@check("the logsumexp has a gradient too", points=1, of=FUNCTION, judge=CLOSE, requires_any=("logsumexp", "one_block"))
def test_logsumexp_gradient(impl, given):
    query, key, value = (tensor.requires_grad_() for tensor in inputs(given, *LEADING))
    found = given.gradients(flash(impl, (query, key, value), 4)[1], query, key)
    return {f"gradient of the {name}": gradient for name, gradient in zip(("query", "key"), found, strict=True)}


@check("there may be any number of axes before the last two", points=2, of=FUNCTION, judge=AGREEING)
def test_leading_axes(impl, given):
    five = inputs(given, 2, 2, 2, lengths=square(given))
    four = [tensor.flatten(0, 1) for tensor in five]
    whole = flash(impl, four, 5, causal=True)
    rows = [flash(impl, [tensor[row, 0] for tensor in four], 5, causal=True) for row in range(4)]
    three = flash(impl, [tensor[:, 0] for tensor in four], 5, causal=True)
    one_each = [given.torch.stack(results) for results in zip(*rows, strict=True)]
    seen = {}
    for i, name in enumerate(RIGHT):
        seen[f"{name} of five axes, and of four"] = [
            flash(impl, five, 5, causal=True)[i],
            whole[i].unflatten(0, (2, 2)),
        ]
        seen[f"{name} of three axes, and of four"] = [three[i], whole[i][:, 0]]
        seen[f"{name} of two axes, and of four"] = [one_each[i], whole[i][:, 0]]
    return seen


@check("float64, bfloat16 and float16 inputs keep their dtype", points=2, of=FUNCTION, judge=Like(), trials=1)
def test_dtypes(impl, given):
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        tensors = inputs(given, *LEADING, lengths=square(given), scale=0.7, dtype=dtype)
        output, _ = flash(impl, tensors, 3, causal=True)
        wide, _ = flash(impl, [tensor.float() for tensor in tensors], 3, causal=True)
        seen[dtype] = {"output, compared with float32": [output[..., :4], wide[..., :4]]}
    return seen


@check(
    "sums over many keys are float32 at least, also for half precision",
    points=2,
    of=FUNCTION,
    judge=Same(tolerance=0.03),
    trials=1,
)
def test_half_sums(impl, given):
    keys, K, F = 640, given.size("K"), given.size("F")
    seen = {}
    for dtype in ("bfloat16", "float16"):
        query, key = given.normal(3, K, scale=0.1, dtype=dtype), given.normal(keys, K, scale=0.1, dtype=dtype)
        value = given.normal(keys, F, scale=40.0, dtype=dtype) + given.normal(F, scale=300.0, dtype=dtype)
        output, logsumexp = flash(impl, (query, key, value), 4)
        seen[dtype] = {"output": output.float(), "logsumexp": logsumexp.float()}
    return seen


@check("new tensors are on the device of the input", points=1, of=FUNCTION, trials=1, judge=AGREEING)
def test_device(impl, given):
    tensors = inputs(given, *LEADING, lengths=square(given))
    here = flash(impl, tensors, 3, causal=True)
    with given.another_device() as device:
        there = flash(impl, [tensor.to(device) for tensor in tensors], 3, causal=True)
        return {name: [one, other] for name, one, other in zip(RIGHT, there, here, strict=True)}


@check(
    "the inputs are not modified",
    points=1,
    of=FUNCTION,
    requires_any=("output", "one_block", "falling"),
    judge=SameInputs(),
)
def test_inputs_kept(impl, given):
    tensors = inputs(given, *LEADING)
    impl.flash_attention(*tensors, 3, causal=True)
    return dict(zip(("query", "key", "value"), tensors, strict=True))


@check(
    "a block_size below 1 is a ValueError with the number",
    points=1,
    of=FUNCTION,
    judge=Raises(),
    requires_any=("output", "one_block", "falling"),
)
def test_block_size_refused(impl, given):
    size = given.choice((0, -1, -7))
    return given.raises(lambda: impl.flash_attention(*inputs(given), size), size)


SAYS = ("the", "cat", "sat", "on", "the", "mat", "and", "slept")


@picture("causal weights that 8 words get in blocks of 3", rows="query", columns="key")
def picture_weights(impl, given):
    kinds = [sorted(set(SAYS)).index(word) for word in SAYS]
    vectors = given.torch.nn.functional.one_hot(given.tensor(kinds, "int64")).float()
    vectors = given.torch.cat([vectors, given.torch.ones(len(SAYS), 1)], dim=-1)
    near = given.torch.eye(len(SAYS))  # with one value per key, the output is the weights themselves
    output, _ = impl.flash_attention(4 * vectors, vectors, near, 3, causal=True)
    return output, list(SAYS), list(SAYS)
