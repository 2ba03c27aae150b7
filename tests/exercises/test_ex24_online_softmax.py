"""ex24: attention in blocks of keys. Its idea is that no tensor has the scores of a query for all keys.

Most mistakes are in the correction. So a check of another claim compares the program with itself: with the same keys
in the same blocks, where only that claim makes a difference. The checks of memory judge no numbers.
"""

from autograder.checks import Like, Raises, Same, SameInputs, check, picture

FUNCTION = "flash_attention"
RIGHT = ("output", "logsumexp")
COMPUTED = ("output", "one_block", "falling")  # one of them passes unless nothing is computed
AGREEING = Like(tolerance=1e-4)
CLOSE = Same(tolerance=1e-4)

LEADING = (1, 2)
"""Sequences and heads. Few are enough, since `leading_axes` judges that more of them work."""

MILD = 0.7
"""The scale of queries and keys where outputs need only be alike, whatever they are divided by."""


def inputs(given, *leading, lengths=None, scale=1.0, dtype="float32"):
    """Return query (..., T, K), key and value (..., S, K); T and S are those of the trial, or `lengths`."""
    K = given.size("K")
    T, S = lengths or given.sizes("T S")
    query = given.normal(*leading, T, K, scale=scale, dtype=dtype)
    key = given.normal(*leading, S, K, scale=scale, dtype=dtype)
    return query, key, given.normal(*leading, S, K, dtype=dtype)


def in_threes(given, **options):
    """Return inputs whose keys make whole blocks of 3."""
    return inputs(given, *LEADING, lengths=(given.size("T"), 3 * (given.size("S") // 3)), **options)


def flash(impl, tensors, block_size, **options):
    """Return output and logsumexp for copies of the tensors. Another check judges in-place writes."""
    output, logsumexp = impl.flash_attention(*(tensor.clone() for tensor in tensors), block_size, **options)
    return output, logsumexp


def output_of(impl, tensors, block_size, **options):
    """Return the output alone: other checks judge the logsumexp."""
    return flash(impl, tensors, block_size, **options)[0]


@check("the output is the attention of all keys, computed in blocks", points=3, of=FUNCTION)
def test_output(impl, given):
    return {"output": output_of(impl, in_threes(given), 3)}


@check("the second result is the natural logsumexp of each query's scores", points=3, of=FUNCTION)
def test_logsumexp(impl, given):
    query, key, value = in_threes(given)
    return {
        "logsumexp": flash(impl, (query, key, value), 3)[1],
        "logsumexp of one query": flash(impl, (query[..., -1:, :], key, value), 3)[1],
    }


@check("one block with all keys gives the same as ordinary attention", points=2, of=FUNCTION)
def test_one_block(impl, given):
    return {"output": output_of(impl, inputs(given, *LEADING), given.size("S"))}


@check("values may be wider than keys", points=1, of=FUNCTION, judge=AGREEING)
def test_value_width(impl, given):
    query, key, value = in_threes(given, scale=MILD)
    wide = given.torch.cat((value, value.flip(-2)), dim=-1)
    halves = [output_of(impl, (query, key, half), 3) for half in (value, value.flip(-2))]
    whole = output_of(impl, (query, key, wide), 3)
    return {"output, compared with that of each half": [whole, given.torch.cat(halves, dim=-1)]}


@check("block_size need not divide the number of keys, and may exceed it", points=3, of=FUNCTION, judge=AGREEING)
def test_block_sizes(impl, given):
    torch, S, seen = given.torch, given.size("S"), {}
    query, key, value = inputs(given, *LEADING, scale=MILD)
    query[..., 0], key[..., 0] = 1.0, 0.0
    for size in (next(size for size in range(4, S) if S % size), S + given.number(3, 9)):
        missing = -S % size
        far = torch.zeros_like(key[..., :1, :]).expand(*key.shape[:-2], missing, -1).clone()
        far[..., 0] = -1e4  # such a key gets the weight 0
        filled = (query, torch.cat((key, far), dim=-2), torch.cat((value, far + 1e4), dim=-2))
        name = f"output with block_size {size} for {S} keys, compared with {missing} more keys of weight 0"
        seen[name] = [output_of(impl, (query, key, value), size), output_of(impl, filled, size)]
    return seen


def ordered(given, step):
    """Return inputs whose scores rise from key to key by about `step`."""
    S, K = given.sizes("S K")
    query, key, value = inputs(given, *LEADING)
    query[..., 0] = K**0.5
    key[..., 0] = given.tensor([float(step * i) for i in range(S)])
    return query, key, value


@check("earlier blocks are corrected when a later block has the largest score", points=3, of=FUNCTION)
def test_rising(impl, given):
    return {"output": output_of(impl, ordered(given, 1), 1)}


@check("the largest score may be far above those of later blocks", points=1, of=FUNCTION)
def test_falling(impl, given):
    # A block falls by more than exp can undo: e^88 is the limit.
    query, key, value = ordered(given, -60)
    return {"output": output_of(impl, (query, key, value), 2 - key.size(-2) % 2)}


def prefixes(impl, query, key, value, block_size):
    """Return the output of each query for the keys up to its own position, without `causal`."""
    offset = key.size(-2) - query.size(-2) + 1
    return [
        output_of(impl, (query[..., i : i + 1, :], key[..., : i + offset, :], value[..., : i + offset, :]), block_size)
        for i in range(query.size(-2))
    ]


def causal_in_one_block(impl, given, T, S):
    """Observe the causal output, beside what each query gets for its own keys."""
    tensors = inputs(given, *LEADING, lengths=(T, S), scale=MILD)
    alone = given.torch.cat(prefixes(impl, *tensors, S), dim=-2)
    return {"output, compared with the keys up to each query": [output_of(impl, tensors, S, causal=True), alone]}


@check(
    "causal: a query sees the keys up to its own position", points=3, of=FUNCTION, judge=AGREEING, requires_any=COMPUTED
)
def test_causal(impl, given):
    return causal_in_one_block(impl, given, given.size("S"), given.size("S"))


@check("causal: positions count over all blocks", points=2, of=FUNCTION, judge=AGREEING, requires_any=COMPUTED)
def test_causal_blocks(impl, given):
    query, key, value = in_threes(given, scale=MILD)
    first = (query.size(-2) - key.size(-2) - 1) % 3
    ends = slice(first, None, 3)  # the last query of each block, whose own keys make whole blocks
    alone = given.torch.cat(prefixes(impl, query, key, value, 3)[ends], dim=-2)
    output = output_of(impl, (query, key, value), 3, causal=True)
    return {"output of the last query of each block, compared with its own keys": [output[..., ends, :], alone]}


@check(
    "causal: with fewer queries than keys, the last query stands at the last key",
    points=2,
    of=FUNCTION,
    judge=AGREEING,
    requires_any=COMPUTED,
)
def test_causal_short(impl, given):
    T, S = given.sizes("T S")
    return causal_in_one_block(impl, given, T, S)


CLOSED = "output of the queries before the first key"


@check(
    "causal: a query with nothing to attend to stays finite, and the others are right",
    points=1,
    of=FUNCTION,
    judge=Like(tolerance=1e-4, free=(CLOSED,)),
    requires_any=COMPUTED,
)
def test_causal_long(impl, given):
    T, S = given.sizes("S T")  # more queries than keys
    query, key, value = inputs(given, *LEADING, lengths=(T, S), scale=MILD)
    both = causal_in_one_block(impl, given, S, S)
    closed = output_of(impl, (query, key, value), 3, causal=True)[..., : T - S, :]
    output = output_of(impl, (query, key, value), S, causal=True)[..., T - S :, :]
    alone = output_of(impl, (query[..., T - S :, :], key, value), S, causal=True)
    return {CLOSED: closed, "output of the others, compared with theirs alone": [output, alone], **both}


FINITE = "logsumexp"
ROUNDED = Like(tolerance=0.01, free=(FINITE,))  # a score of 10,000 in float32 is off by 0.001


def shifted(impl, given, *numbers):
    """Observe the output for scores that are moved by these numbers, one for each query in turn, and unmoved.

    To move all scores of a query changes nothing.
    """
    T, K = given.sizes("T K")
    query, key, value = in_threes(given, scale=MILD)
    query[..., 0], key[..., 0] = 0.0, 1.0
    unmoved = output_of(impl, (query, key, value), 3)
    query[..., 0] = given.tensor([numbers[i % len(numbers)] * K**0.5 for i in range(T)])
    moved, logsumexp = flash(impl, (query, key, value), 3)
    return {"output, compared with scores near 0": [moved, unmoved], FINITE: logsumexp}


@check("scores of 10,000 and more do not overflow", points=2, of=FUNCTION, judge=ROUNDED)
def test_large_scores(impl, given):
    return shifted(impl, given, 10_000.0)


@check("scores far below 0 do not vanish", points=2, of=FUNCTION, judge=ROUNDED)
def test_low_scores(impl, given):
    return shifted(impl, given, -10_000.0)


@check("each query has a maximum of its own", points=2, of=FUNCTION, judge=ROUNDED, requires_any=COMPUTED)
def test_rows_apart(impl, given):
    return shifted(impl, given, 300.0, -200.0, 0.0)


def long(given, more):
    """Return inputs of one head with more than 32 queries and `more` keys than that, and a block size."""
    T = given.number(33, 40)
    return inputs(given, 1, 1, lengths=(T, T + more)), T, T + more, given.number(4, 7)


@check(
    "the scores of a query for all keys are never in one tensor",
    points=2,
    of=FUNCTION,
    requires_any=COMPUTED,
    idea=True,
)
def test_no_whole_row(impl, given):
    tensors, T, S, block = long(given, given.number(9, 17))
    copies = [tensor.clone() for tensor in tensors]
    made = given.bounded(lambda: impl.flash_attention(*copies, block), T * S, axis=S, sources=(copies[0],))
    return {"results": len(made), "queries and keys": [T, S]}


@check("causal: no tensor has a number for each pair of query and key", points=2, of=FUNCTION, requires_any=COMPUTED)
def test_no_score_matrix(impl, given):
    tensors, T, S, block = long(given, 0)
    made = given.bounded(lambda: flash(impl, tensors, block, causal=True), T * S)
    return {"results": len(made), "queries and keys": [T, S]}


@check("the backward pass makes no tensor of all scores either", points=2, of=FUNCTION, requires_any=COMPUTED)
def test_no_score_matrix_backward(impl, given):
    tensors, T, S, block = long(given, 0)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    found = given.bounded(lambda: given.gradients(output_of(impl, leaves, block), *leaves), T * S)
    return {"gradients": len(found) - found.count(None), "queries and keys": [T, S]}


@check("the gradients of query, key and value are right", points=2, of=FUNCTION, judge=Like(tolerance=1e-3))
def test_gradients(impl, given):
    tensors = inputs(given, 2, 6, lengths=(4, 6), scale=MILD, dtype="float64")
    names = [f"gradient of the {name}, compared with small steps" for name in ("query", "key", "value")]
    return dict(zip(names, given.slopes(lambda *at: output_of(impl, at, 3), *tensors), strict=True))


@check("the logsumexp has a gradient too", points=1, of=FUNCTION, judge=CLOSE, requires_any=("logsumexp", "one_block"))
def test_logsumexp_gradient(impl, given):
    query, key, value = (tensor.requires_grad_() for tensor in in_threes(given))
    found = given.gradients(flash(impl, (query, key, value), 3)[1], query, key)
    return {f"gradient of the {name}": gradient for name, gradient in zip(("query", "key"), found, strict=True)}


ONE_QUERY = "output of one query, and of all"


@check(
    "there may be any axes before the last two, also of size 1",
    points=2,
    of=FUNCTION,
    judge=Like(tolerance=1e-4, free=(ONE_QUERY,)),
)
def test_leading_axes(impl, given):
    five = inputs(given, 2, 2, 2, lengths=(5, 6), scale=MILD)
    four = [tensor.flatten(0, 1) for tensor in five]
    whole = output_of(impl, four, 3)
    rows = [output_of(impl, [tensor[row, 0] for tensor in four], 3) for row in range(4)]
    three = output_of(impl, [tensor[:, 0] for tensor in four], 3)
    one = flash(impl, [tensor[:1, :1, :size] for tensor, size in zip(four, (1, 6, 6), strict=True)], 3)
    return {
        "output of five axes, and of four": [output_of(impl, five, 3), whole.unflatten(0, (2, 2))],
        "output of three axes, and of four": [three, whole[:, 0]],
        "output of two axes, and of four": [given.torch.stack(rows), whole[:, 0]],
        "shape of the logsumexp of five axes": list(flash(impl, five, 3)[1].shape),
        ONE_QUERY: [one[0], whole[:1, :1, :1]],
        "shape of the logsumexp of one query": list(one[1].shape),
    }


@check("float64, bfloat16 and float16 inputs keep their dtype", points=1, of=FUNCTION, judge=Like(), trials=1)
def test_dtypes(impl, given):
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        tensors = in_threes(given, scale=MILD, dtype=dtype)
        output = output_of(impl, tensors, 3, causal=True)
        wide = output_of(impl, [tensor.float() for tensor in tensors], 3, causal=True)
        seen[dtype] = {"output, compared with float32": [output[..., :4], wide[..., :4]]}
    return seen


@check(
    "sums over many keys are float32 at least, also for half precision",
    points=2,
    of=FUNCTION,
    judge=Like(tolerance=0.03),
    trials=1,
    requires_any=COMPUTED,
)
def test_half_sums(impl, given):
    keys, K, seen = 640, given.size("K"), {}
    for dtype in ("bfloat16", "float16"):
        query, key = given.normal(3, K, scale=0.1, dtype=dtype), given.normal(keys, K, scale=0.1, dtype=dtype)
        value = given.normal(keys, K, scale=40.0, dtype=dtype) + given.normal(K, scale=300.0, dtype=dtype)
        tensors = (query, key, value)
        both = [output_of(impl, tensors, 4), output_of(impl, [tensor.float() for tensor in tensors], 4)]
        seen[f"{dtype} output, compared with float32"] = [output.float() for output in both]
    return seen


@check("new tensors are on the device of the input", points=1, of=FUNCTION, trials=1, judge=AGREEING)
def test_device(impl, given):
    tensors = in_threes(given, scale=MILD)
    here = flash(impl, tensors, 3, causal=True)
    with given.another_device() as device:
        there = flash(impl, [tensor.to(device) for tensor in tensors], 3, causal=True)
        return {name: [one, other] for name, one, other in zip(RIGHT, there, here, strict=True)}


@check("the inputs are not modified", points=1, of=FUNCTION, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    tensors = inputs(given, *LEADING)
    impl.flash_attention(*tensors, 3, causal=True)
    return dict(zip(("query", "key", "value"), tensors, strict=True))


@check(
    "a block_size below 1 is a ValueError with the number",
    points=1,
    of=FUNCTION,
    judge=Raises(),
    requires_any=COMPUTED,
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
