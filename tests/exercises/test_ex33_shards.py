"""ex33: ranks in lists. What a function sends is judged apart from what it computes.

The checks with `idea` bring a group that counts bytes and may lose what one rank sends. Then every result must be as if
that rank had zeros. A function that reads the lists of other ranks differs there, and one that gathers sends more.
"""

from autograder.checks import Like, Raises, SameInputs, check, picture

COLUMN, BACK, ROW = "column_parallel", "column_parallel_backward", "row_parallel"
ENTROPY, AVERAGE = "vocab_parallel_cross_entropy", "average_gradients"
FLAT, GATHER, SCATTER = "flat_shards", "gather_parameters", "scatter_gradients"
COMPUTED = ("column_backward", "row", "entropy", "average", "gather", "scatter")

AGREEING = Like(tolerance=1e-4)
ROUNDED = Like(tolerance=1e-3)  # a float32 number near 8192 is off by up to 0.0005


class Ring:
    """A group with the methods of the lesson's. What the rank `lost` sends arrives as nothing."""

    def __init__(self, given, size, lost=None):
        self.size, self.sent, self._torch, self._lost = size, 0, given.torch, lost

    def _joined(self, parts, *, least=False):
        if not isinstance(parts, list | tuple) or len(parts) != self.size:
            raise ValueError(f"a collective needs a list of {self.size} tensors, one per rank")
        joined = self._torch.stack(list(parts))
        if self._lost is not None:
            joined = joined.clone()
            joined[self._lost] = joined.amin() if least else 0
        return joined

    def all_reduce(self, parts, operation="sum"):
        joined = self._joined(parts, least=operation == "max")
        self.sent += 2 * (self.size - 1) * joined[0].numel() * joined.element_size()
        result = {"sum": joined.sum, "max": joined.amax}[operation](dim=0)
        return [result.clone() for _ in range(self.size)]

    def all_gather(self, parts):
        result = self._joined(parts).flatten(0, 1)
        self.sent += (self.size - 1) * result.numel() * result.element_size()
        return [result.clone() for _ in range(self.size)]

    def reduce_scatter(self, parts):
        total = self._joined(parts).sum(dim=0)
        self.sent += (self.size - 1) * total.numel() * total.element_size()
        return [piece.clone() for piece in total.unflatten(0, (self.size, -1))]


def ranks_of(given):
    """Return the number of ranks, and the rank whose messages may be lost."""
    ranks = given.choice((2, 3, 4))
    return ranks, given.number(0, ranks)


def alone(parts, lost):
    """Return copies of the parts, with zeros for one rank."""
    return [part * 0 if rank == lost else part.clone() for rank, part in enumerate(parts)]


def copies(tensor, ranks):
    return [tensor.clone() for _ in range(ranks)]


def by_rank(what, results):
    """Name the result of each rank, and its parts if there are several."""
    if not isinstance(results, list | tuple):
        return {what: results}
    found = {}
    for rank, own in enumerate(results):
        parts = own if isinstance(own, list | tuple) else None
        names = {f"{what} {i + 1} of rank {rank}": part for i, part in enumerate(parts or [])}
        found |= {f"{what} of rank {rank}": own} if parts is None else names
    return found


def name(what, lost):
    return f"{what} of all ranks if rank {lost} is not heard of, and if it has zeros"


@check("column-parallel shards have consecutive output features, and their biases", points=2, of="column_shards")
def test_column_shards(impl, given):
    ranks, _ = ranks_of(given)
    F, D = given.sizes("F D")
    weights, biases = impl.column_shards(given.normal(F * ranks, D), given.normal(F * ranks), ranks)
    return {**by_rank("weight", weights), **by_rank("bias", biases)}


@check("row-parallel shards have consecutive input features", points=2, of="row_shards")
def test_row_shards(impl, given):
    ranks, _ = ranks_of(given)
    F, D = given.sizes("F D")
    return by_rank("weight", impl.row_shards(given.normal(D, F * ranks), ranks))


@check(
    "output features that cannot be divided evenly are a ValueError with both numbers",
    points=1,
    of="column_shards",
    judge=Raises(),
    requires_any=("column_shards",),
)
def test_column_refused(impl, given):
    ranks = given.choice((3, 4))
    outputs = ranks * given.size("F") + given.number(1, ranks)
    bias = given.normal(outputs) * 0  # a message with a whole tensor has neither number then
    weight = bias[:, None].expand(-1, 2 * ranks).contiguous()
    return given.raises(lambda: impl.column_shards(weight, bias, ranks), outputs, ranks)


@check(
    "input features that cannot be divided evenly are a ValueError with both numbers",
    points=1,
    of="row_shards",
    judge=Raises(),
    requires_any=("row_shards",),
)
def test_row_refused(impl, given):
    ranks = given.choice((3, 4))
    inputs = ranks * given.size("F") + given.number(1, ranks)
    return given.raises(lambda: impl.row_shards(given.normal(2 * ranks, inputs) * 0, ranks), inputs, ranks)


@check("each rank computes its own output features", points=2, of=COLUMN)
def test_column(impl, given):
    ranks, _ = ranks_of(given)
    B, T, D, F = given.sizes("B T D F")
    weights = [given.normal(F, D) for _ in range(ranks)]
    biases, x = [given.normal(F) for _ in range(ranks)], given.normal(B, T, D)
    return {
        **by_rank("output", impl.column_parallel(copies(x, ranks), weights, biases)),
        **by_rank("output for one token", impl.column_parallel(copies(x[:1, :1], ranks), weights, biases)),
    }


def back(given, ranks, dtype="float32", leading=None):
    """Return gradients (..., F) of the outputs and weights (F, D), for each rank."""
    (B, T), (D, F) = leading or given.sizes("B T"), given.sizes("D F")
    grads = [given.normal(B, T, F, dtype=dtype) for _ in range(ranks)]
    return grads, [given.normal(F, D, dtype=dtype) for _ in range(ranks)]


@check("the gradient of the common input is a sum over the ranks", points=3, of=BACK)
def test_column_backward(impl, given):
    ranks, _ = ranks_of(given)
    return by_rank("gradient of x", impl.column_parallel_backward(Ring(given, ranks), *back(given, ranks)))


@check(
    "the ranks exchange the gradient of x and nothing else",
    points=2,
    of=BACK,
    judge=AGREEING,
    requires_any=COMPUTED,
    idea=True,
)
def test_column_backward_sent(impl, given):
    ranks, lost = ranks_of(given)
    grads, weights = back(given, ranks)
    group = Ring(given, ranks)
    zeros = impl.column_parallel_backward(group, alone(grads, lost), weights)
    deaf = impl.column_parallel_backward(Ring(given, ranks, lost), grads, weights)
    return {name("gradient", lost): stacked(given, deaf, zeros), "bytes sent": group.sent}


def stacked(given, *results):
    """Return each list of tensors as one tensor."""
    return [given.torch.stack(list(result)) for result in results]


def row(given, ranks, dtype="float32", leading=None):
    """Return inputs (..., K) and weights (F, K) for each rank, and the bias (F,)."""
    (B, T), (K, F) = leading or given.sizes("B T"), given.sizes("K F")
    xs = [given.normal(B, T, K, dtype=dtype) for _ in range(ranks)]
    weights = [given.normal(F, K, dtype=dtype) for _ in range(ranks)]
    return xs, weights, given.normal(F, dtype=dtype, scale=3.0)


@check("the partial products of all ranks are added", points=3, of=ROW)
def test_row(impl, given):
    ranks, _ = ranks_of(given)
    xs, weights, bias = row(given, ranks)
    return by_rank("output without a bias", impl.row_parallel(Ring(given, ranks), xs, weights, bias * 0))


@check("the bias is added once, however many ranks there are", points=2, of=ROW, judge=AGREEING, requires_any=("row",))
def test_row_bias(impl, given):
    ranks, _ = ranks_of(given)
    xs, weights, bias = row(given, ranks)
    outputs = impl.row_parallel(Ring(given, ranks), xs, weights, bias)
    without = impl.row_parallel(Ring(given, ranks), xs, weights, bias * 0)
    return {
        "outputs of all ranks, and those without a bias plus the bias": stacked(
            given, outputs, [output + bias for output in without]
        )
    }


@check(
    "the ranks exchange partial outputs and nothing else",
    points=2,
    of=ROW,
    judge=AGREEING,
    requires_any=COMPUTED,
    idea=True,
)
def test_row_sent(impl, given):
    ranks, lost = ranks_of(given)
    xs, weights, bias = row(given, ranks)
    group = Ring(given, ranks)
    zeros = impl.row_parallel(group, alone(xs, lost), weights, bias * 0)
    deaf = impl.row_parallel(Ring(given, ranks, lost), xs, weights, bias * 0)
    return {name("output", lost): stacked(given, deaf, zeros), "bytes sent": group.sent}


def vocabulary(given, ranks, *leading, scale=2.0, dtype="float32"):
    """Return logits (..., K) for each rank, and targets (...) in the whole vocabulary."""
    K = given.size("K")
    logits = [given.normal(*leading, K, scale=scale, dtype=dtype) for _ in range(ranks)]
    return logits, given.integers(0, K * ranks, *leading)


@check("the loss of each position is that of the whole vocabulary", points=4, of=ENTROPY)
def test_entropy(impl, given):
    ranks, _ = ranks_of(given)
    logits, targets = vocabulary(given, ranks, given.size("T"))
    return by_rank("losses", impl.vocab_parallel_cross_entropy(Ring(given, ranks), logits, targets))


@check(
    "there may be any number of axes before the vocabulary",
    points=1,
    of=ENTROPY,
    judge=AGREEING,
    requires_any=("entropy",),
)
def test_entropy_axes(impl, given):
    ranks, _ = ranks_of(given)
    logits, targets = vocabulary(given, ranks, *given.sizes("G B T"))
    group = Ring(given, ranks)
    whole = impl.vocab_parallel_cross_entropy(group, logits, targets)
    rows = impl.vocab_parallel_cross_entropy(group, [part.flatten(0, 2) for part in logits], targets.flatten())
    one = impl.vocab_parallel_cross_entropy(group, [part[0, 0, 0] for part in logits], targets[0, 0, 0])
    firsts = impl.vocab_parallel_cross_entropy(group, [part[..., :1, :] for part in logits], targets[..., :1])
    return {
        "losses of three axes, and of one": [whole[0].flatten(), rows[0]],
        "loss of one position": [one[0].reshape(1), rows[0][:1]],
        "losses of the first positions, alone and among others": [firsts[0], whole[0][..., :1]],
    }


@check("logits of several thousand do not overflow", points=2, of=ENTROPY, judge=ROUNDED, requires_any=("entropy",))
def test_entropy_large(impl, given):
    ranks, _ = ranks_of(given)
    logits, targets = vocabulary(given, ranks, given.size("T"))
    logits = [(part * 8).round() / 8 for part in logits]  # exact in float32 when moved
    group = Ring(given, ranks)
    moved = impl.vocab_parallel_cross_entropy(group, [part + 8192.0 for part in logits], targets)
    near = impl.vocab_parallel_cross_entropy(group, logits, targets)
    return {"losses of all ranks, compared with logits near 0": stacked(given, moved, near)}


@check(
    "the logits of one rank may be far above those of another",
    points=2,
    of=ENTROPY,
    judge=ROUNDED,
    requires_any=("entropy",),
)
def test_entropy_apart(impl, given):
    ranks, high = ranks_of(given)
    K = given.size("K")
    logits, targets = vocabulary(given, ranks, given.size("T"))
    targets = targets % K + high * K
    logits = [(part * 8).round() / 8 - (0 if rank == high else 256.0) for rank, part in enumerate(logits)]
    far = impl.vocab_parallel_cross_entropy(Ring(given, ranks), logits, targets)
    only = impl.vocab_parallel_cross_entropy(Ring(given, 1), [logits[high]], targets % K)
    return {"losses of the ranks, compared with the high logits alone": stacked(given, far, only * ranks)}


@check(
    "logits of -inf, as of a padded vocabulary, give no NaN",
    points=2,
    of=ENTROPY,
    judge=AGREEING,
    requires_any=("entropy",),
)
def test_entropy_padded(impl, given):
    ranks, closed = ranks_of(given)
    K = given.size("K")
    logits, targets = vocabulary(given, ranks, given.size("T"))
    targets = (targets % (K - 2) + 1) + K * ((closed + 1) % ranks)
    low = [part.clone() for part in logits]
    for rank in range(ranks):
        for part, number in ((logits[rank], float("-inf")), (low[rank], -1e4)):
            part[..., 0] = part[..., K - 1] = number
    logits[closed][:], low[closed][:] = float("-inf"), -1e4
    group = Ring(given, ranks)
    losses = impl.vocab_parallel_cross_entropy(group, logits, targets)
    return {
        "losses of all ranks, compared with logits of -10,000": stacked(
            given, losses, impl.vocab_parallel_cross_entropy(group, low, targets)
        )
    }


@check(
    "the ranks exchange three numbers for each position, and no logits",
    points=4,
    of=ENTROPY,
    judge=AGREEING,
    requires_any=COMPUTED,
    idea=True,
)
def test_entropy_sent(impl, given):
    ranks, lost = ranks_of(given)
    K = given.size("K")
    logits, targets = vocabulary(given, ranks, given.size("T"))
    targets = targets % K + K * ((lost + 1) % ranks)  # the lost rank has no target
    group = Ring(given, ranks)
    silent = [part * 0 - 1e4 if rank == lost else part.clone() for rank, part in enumerate(logits)]
    without = impl.vocab_parallel_cross_entropy(group, silent, targets)
    deaf = impl.vocab_parallel_cross_entropy(Ring(given, ranks, lost), logits, targets)
    what = f"losses of all ranks if rank {lost} is not heard of, and if its logits are -10,000"
    return {what: stacked(given, deaf, without), "bytes sent": group.sent}


def gradients_of(given, ranks, *more, dtype="float32"):
    """Return gradients of a few parameters for each rank, those of other shapes too, and how many tokens each has."""
    T, D, F = given.sizes("T D F")
    shapes = ((T, D), (F,), *more)
    gradients = [[given.normal(*shape, dtype=dtype) for shape in shapes] for _ in range(ranks)]
    counts = [given.tensor(float(count)) for count in given.distinct(1, 40, ranks)]
    return gradients, counts


@check("gradients are averaged over all tokens: each rank counts by its tokens", points=4, of=AVERAGE)
def test_average(impl, given):
    ranks, _ = ranks_of(given)
    return by_rank("gradient", impl.average_gradients(Ring(given, ranks), *gradients_of(given, ranks)))


@check(
    "with equally many tokens, the gradients are the mean over the ranks",
    points=2,
    of=AVERAGE,
    requires_any=("average", "average_sent"),
)
def test_average_equal(impl, given):
    ranks, _ = ranks_of(given)
    gradients, counts = gradients_of(given, ranks, ())
    same = [counts[0].clone() for _ in counts]
    return by_rank("gradient", impl.average_gradients(Ring(given, ranks), gradients, same))


@check(
    "a rank without tokens changes nothing",
    points=1,
    of=AVERAGE,
    judge=AGREEING,
    requires_any=("average", "average_equal", "average_sent"),
)
def test_average_nothing(impl, given):
    ranks, empty = ranks_of(given)
    gradients, counts = gradients_of(given, ranks)
    others = [rank for rank in range(ranks) if rank != empty]
    fewer = impl.average_gradients(
        Ring(given, ranks - 1), [gradients[rank] for rank in others], [counts[rank] for rank in others]
    )
    gradients[empty] = [gradient * 0 for gradient in gradients[empty]]
    counts[empty] = counts[empty] * 0
    found = impl.average_gradients(Ring(given, ranks), gradients, counts)
    return {f"gradient {i + 1}, with the rank and without": [found[0][i], fewer[0][i]] for i in range(2)}


@check(
    "the ranks exchange each gradient once, and their counts",
    points=2,
    of=AVERAGE,
    judge=AGREEING,
    requires_any=COMPUTED,
    idea=True,
)
def test_average_sent(impl, given):
    ranks, lost = ranks_of(given)
    gradients, counts = gradients_of(given, ranks)
    counts = [counts[0].clone() for _ in counts]
    group = Ring(given, ranks)
    deaf = impl.average_gradients(Ring(given, ranks, lost), gradients, counts)
    impl.average_gradients(group, gradients, counts)
    others = [rank for rank in range(ranks) if rank != lost]
    fewer = impl.average_gradients(
        Ring(given, ranks - 1), [gradients[rank] for rank in others], [counts[rank] for rank in others]
    )
    what = f"if rank {lost} is not heard of, and without it"
    return {
        f"first gradient of all ranks {what}": stacked(given, [own[0] for own in deaf], [fewer[0][0]] * ranks),
        "bytes sent": group.sent,
    }


def shapes_of(given, ranks, missing):
    """Return shapes of parameters whose number of elements lacks `missing` to be divided by the ranks."""
    T, K = given.sizes("T K")
    return [(T, K), (), (ranks + -(T * K + 1 + missing) % ranks,)]


def parameters_of(given, shapes, dtype="float32"):
    return [given.normal(*shape, dtype=dtype) for shape in shapes]


@check("shards are equal pieces of all parameters in order", points=2, of=FLAT)
def test_flat(impl, given):
    ranks, _ = ranks_of(given)
    return by_rank("shard", impl.flat_shards(parameters_of(given, shapes_of(given, ranks, 0)), ranks))


@check("zeros at the end make all shards equally long, and there are as few as possible", points=2, of=FLAT)
def test_flat_padding(impl, given):
    ranks, _ = ranks_of(given)
    shapes = shapes_of(given, ranks, given.number(1, ranks))
    return by_rank("shard", impl.flat_shards(parameters_of(given, shapes), ranks))


def shards_of(given, ranks, shapes, dtype="float32"):
    """Return shards as the contract cuts them, made here: other checks judge `flat_shards`."""
    flat = given.torch.cat([parameter.flatten() for parameter in parameters_of(given, shapes, dtype)])
    flat = given.torch.cat([flat, flat.new_zeros(-flat.numel() % ranks)])
    return [piece.clone() for piece in flat.unflatten(0, (ranks, -1))]


@check("every rank gets all parameters with their shapes", points=3, of=GATHER)
def test_gather(impl, given):
    ranks, _ = ranks_of(given)
    shapes = shapes_of(given, ranks, 0)
    return by_rank("parameter", impl.gather_parameters(Ring(given, ranks), shards_of(given, ranks, shapes), shapes))


@check("the zeros at the end belong to no parameter", points=2, of=GATHER, requires_any=("gather", "gather_sent"))
def test_gather_padding(impl, given):
    ranks, _ = ranks_of(given)
    shapes = shapes_of(given, ranks, given.number(1, ranks))
    return by_rank("parameter", impl.gather_parameters(Ring(given, ranks), shards_of(given, ranks, shapes), shapes))


def first_of(given, results):
    """Return the first parameter of all ranks."""
    return given.torch.stack([own[0] for own in results])


@check(
    "each shard is sent once, by an all-gather",
    points=2,
    of=GATHER,
    judge=AGREEING,
    requires_any=COMPUTED,
    idea=True,
)
def test_gather_sent(impl, given):
    ranks, _ = ranks_of(given)
    lost = ranks - 1  # a later piece; the first parameter begins on rank 0
    shapes = [(ranks, given.size("K"))]
    shards = shards_of(given, ranks, shapes)
    group = Ring(given, ranks)
    zeros = impl.gather_parameters(group, alone(shards, lost), shapes)
    deaf = impl.gather_parameters(Ring(given, ranks, lost), shards, shapes)
    return {name("parameter", lost): [first_of(given, deaf), first_of(given, zeros)], "bytes sent": group.sent}


def own_gradients(given, ranks, missing):
    shapes = shapes_of(given, ranks, missing)
    return [parameters_of(given, shapes) for _ in range(ranks)]


@check("every rank gets its piece of the mean gradient", points=3, of=SCATTER)
def test_scatter(impl, given):
    ranks, _ = ranks_of(given)
    return by_rank("shard of the gradient", impl.scatter_gradients(Ring(given, ranks), own_gradients(given, ranks, 0)))


@check(
    "gradients get zeros at the end, as parameters do",
    points=1,
    of=SCATTER,
    judge=AGREEING,
    requires_any=("scatter", "scatter_sent"),
)
def test_scatter_padding(impl, given):
    ranks, _ = ranks_of(given)
    missing = given.number(1, ranks)
    short = own_gradients(given, ranks, missing)
    full = [[*own, own[0].new_zeros(missing)] for own in short]
    results = [impl.scatter_gradients(Ring(given, ranks), gradients) for gradients in (short, full)]
    return {"shards, compared with a last parameter of zeros": stacked(given, *results)}


@check(
    "each gradient is sent once, by a reduce-scatter",
    points=2,
    of=SCATTER,
    judge=AGREEING,
    requires_any=COMPUTED,
    idea=True,
)
def test_scatter_sent(impl, given):
    ranks, lost = ranks_of(given)
    gradients = own_gradients(given, ranks, 0)
    zeros = [[one * 0 for one in own] if rank == lost else own for rank, own in enumerate(gradients)]
    group = Ring(given, ranks)
    silent = impl.scatter_gradients(group, zeros)
    deaf = impl.scatter_gradients(Ring(given, ranks, lost), gradients)
    return {name("shards", lost): stacked(given, deaf, silent), "bytes sent": group.sent}


def calls(given, dtype="float32"):
    """Return functions by name, with their arguments behind the group."""
    ranks, K = 3, given.size("K")
    gradients, counts = gradients_of(given, ranks, dtype=dtype)
    shapes = shapes_of(given, ranks, 1)
    xs, weights, bias = row(given, ranks, dtype)
    return {
        COLUMN: (xs, weights, copies(bias, ranks)),
        FLAT: (parameters_of(given, shapes, dtype), ranks),
        BACK: back(given, ranks, dtype),
        ROW: row(given, ranks, dtype),
        ENTROPY: vocabulary(given, ranks, given.size("T"), dtype=dtype),
        AVERAGE: (gradients, counts),
        GATHER: (shards_of(given, ranks, shapes, dtype), shapes),
        SCATTER: ([parameters_of(given, ((K,), (2, K)), dtype) for _ in range(ranks)],),
    }


def tensors_in(value):
    """Yield all tensors in nested lists."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)
    elif hasattr(value, "element_size"):
        yield value


def changed(value, change):
    """Return nested lists with `change` of each tensor."""
    if isinstance(value, list | tuple):
        return type(value)(changed(part, change) for part in value)
    return change(value) if hasattr(value, "element_size") else value


def called(impl, given, function, values):
    """Return what a function returns: those that send nothing get no group."""
    group = () if function in LOCAL else (Ring(given, 3),)
    return getattr(impl, function)(*group, *values)


def results(impl, given, arguments):
    """Return the first result of rank 0 of each function; of what is never sent, other checks judge the shape."""
    found = {}
    for function, values in arguments.items():
        first = next(tensors_in(called(impl, given, function, changed(values, lambda one: one.clone()))))
        found[function] = first.flatten()[:5] if function in LOCAL else first
    return found


DTYPES = ("float64", "bfloat16")
LOCAL = (COLUMN, FLAT)  # they send nothing
FREE = tuple(f"{function}: {dtype}, compared with float64" for function in LOCAL for dtype in DTYPES)


@check(
    "float64 and bfloat16 tensors keep their dtype, and a single token its axes",
    points=1,
    judge=Like(tolerance=0.1, free=FREE),
    trials=1,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    seen = {}
    for dtype in DTYPES:
        arguments = calls(given, dtype)
        wide = changed(list(arguments.values()), lambda one: one.double() if one.is_floating_point() else one)
        narrow, full = results(impl, given, arguments), results(impl, given, dict(zip(arguments, wide, strict=True)))
        for function in arguments:
            seen[f"{function}: {dtype}"] = str(narrow[function].dtype)
            seen[f"{function}: {dtype}, compared with float64"] = [narrow[function].double(), full[function]]
    one_token = {
        BACK: back(given, 3, leading=(1, 1)),
        ROW: row(given, 3, leading=(1, 1)),
        ENTROPY: vocabulary(given, 3, 1, 1),
    }
    for function, result in results(impl, given, one_token).items():
        seen[f"{function}: one token, set to 0"] = given.torch.zeros_like(result)
    return seen


@check(
    "new tensors are on the device of the input",
    points=1,
    trials=1,
    judge=Like(tolerance=1e-4, free=LOCAL),
    requires_any=COMPUTED,
)
def test_device(impl, given):
    arguments = calls(given)
    here = results(impl, given, arguments)
    with given.another_device() as device:
        moved = changed(list(arguments.values()), lambda one: one.to(device))
        there = results(impl, given, dict(zip(arguments, moved, strict=True)))
        return {function: [there[function], here[function]] for function in arguments}


@check("the tensors of the caller are not modified", points=1, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    arguments = calls(given)
    for function, values in arguments.items():
        called(impl, given, function, values)
    return {function: list(tensors_in(list(values))) for function, values in arguments.items()}


@picture("the shards of 3 ranks: 8 numbers and a zero", rows="rank", columns="place")
def picture_shards(impl, given):
    parameters = [given.tensor([[1, 2, 3], [4, 5, 6]]), given.tensor([7, 8])]
    return given.torch.stack(list(impl.flat_shards(parameters, 3))), ["rank 0", "rank 1", "rank 2"], []
