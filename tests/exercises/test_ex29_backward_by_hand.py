"""ex29: backward functions. Gradients of one function are judged apart, so that a mistake in one costs it alone."""

from autograder.checks import Like, SameInputs, check, picture

LINEAR, ENTROPY, SOFTMAX = "linear_backward", "cross_entropy_backward", "softmax_backward"
ATTENTION, NORM = "attention_backward", "layer_norm_backward"
COMPUTED = ("softmax", "entropy", "linear_input", "attention_value", "norm_bias")
ONE_TOKEN = tuple(f"gradient of the {name}, of one token" for name in ("input", "query", "key", "value"))
AGREEING = Like(tolerance=1e-4, free=ONE_TOKEN)
ROUNDED = Like(tolerance=1e-3)  # a float32 number near 8192 is off by up to 0.0005


def linear(given, *leading, dtype="float32"):
    """Return x (..., D), weight (F, D) and the gradient (..., F) of the output."""
    D, F = given.sizes("D F")
    return (
        given.normal(*leading, D, dtype=dtype),
        given.normal(F, D, dtype=dtype),
        given.normal(*leading, F, dtype=dtype),
    )


@check("the gradient of a linear layer's input is the gradient of the output times the weight", points=2, of=LINEAR)
def test_linear_input(impl, given):
    return {"gradient of x": impl.linear_backward(*linear(given, given.size("T")))[0]}


@check("the gradient of a linear layer's weight is a sum over the rows", points=3, of=LINEAR)
def test_linear_weight(impl, given):
    return {"gradient of the weight": impl.linear_backward(*linear(given, given.size("T")))[1]}


@check("the gradient of a linear layer's bias is a sum over the rows", points=2, of=LINEAR)
def test_linear_bias(impl, given):
    return {"gradient of the bias": impl.linear_backward(*linear(given, given.size("T")))[2]}


@check(
    "a linear layer may get more axes, also of size 1: all but the last are summed over",
    points=2,
    of=LINEAR,
    judge=AGREEING,
    requires_any=("linear_input", "linear_weight", "linear_bias"),
)
def test_linear_axes(impl, given):
    x, weight, grad = linear(given, *given.sizes("B T"))
    whole = impl.linear_backward(x, weight, grad)
    rows = impl.linear_backward(x.flatten(0, 1), weight, grad.flatten(0, 1))
    names = ("x", "weight", "bias")
    found = {
        f"gradient of the {name}, of three axes and of two": [a, b]
        for name, a, b in zip(names, whole, rows, strict=True)
    }
    found["gradient of the x, of three axes and of two"][1] = rows[0].unflatten(0, x.shape[:2])
    return {**found, ONE_TOKEN[0]: [impl.linear_backward(x[:1, :1], weight, grad[:1, :1])[0], whole[0][:1, :1]]}


def logits_of(given, *leading, dtype="float32"):
    """Return logits (..., V) and targets (...)."""
    V = given.size("V")
    return given.normal(*leading, V, scale=2.0, dtype=dtype), given.integers(0, V, *leading)


@check("the gradient of the cross-entropy is the probabilities minus 1 at the target", points=3, of=ENTROPY)
def test_entropy(impl, given):
    return {"gradient of the logits": impl.cross_entropy_backward(*logits_of(given, given.size("T")))}


@check(
    "the mean is over all tokens of all sentences, or of one",
    points=1,
    of=ENTROPY,
    judge=AGREEING,
    requires_any=("entropy",),
)
def test_entropy_axes(impl, given):
    B, T = given.sizes("B T")
    logits, targets = logits_of(given, B, T)
    whole = impl.cross_entropy_backward(logits, targets)
    rows = impl.cross_entropy_backward(logits.flatten(0, 1), targets.flatten(0, 1))
    one, token = (
        impl.cross_entropy_backward(both[0], both[1])
        for both in ((logits[:1, :1], targets[:1, :1]), (logits[0, :1], targets[0, :1]))
    )
    return {"gradient of three axes, and of two": [whole, rows.unflatten(0, (B, T))], ONE_TOKEN[0]: [one, token[None]]}


def some_ignored(given, index, *, counted=None):
    """Return logits and targets, of which three are ignored, or all but `counted`."""
    T, V = given.sizes("T V")
    logits, targets = logits_of(given, T)
    targets = targets + (targets == index)  # no other target is ignored by chance
    rows = given.shuffled(range(T))
    targets[rows[0]], targets[rows[1]] = (index + 1) % V, (index - 1) % V  # just above the index, and just below
    for row in rows[T - 3 if counted is None else counted :]:
        targets[row] = index
    return logits, targets


@check("ignored targets have the gradient 0, and do not count in the mean", points=2, of=ENTROPY)
def test_entropy_ignored(impl, given):
    three, others = some_ignored(given, -100), some_ignored(given, -100, counted=1)
    return {
        "gradient of the logits, 3 targets ignored": impl.cross_entropy_backward(*three),
        "gradient of the logits, all targets ignored but one": impl.cross_entropy_backward(*others),
        "targets after the calls": [three[1], others[1]],
    }


@check("ignore_index may be any number", points=1, of=ENTROPY)
def test_entropy_index(impl, given):
    seen = {}
    for index in (0, given.number(1, given.size("V") - 1)):
        logits, targets = some_ignored(given, index)
        seen[f"gradient with ignore_index {index}"] = impl.cross_entropy_backward(logits, targets, ignore_index=index)
    return seen


@check("if every target is ignored, the gradient is 0", points=1, of=ENTROPY, requires_any=("entropy",))
def test_entropy_nothing(impl, given):
    logits, targets = logits_of(given, given.size("T"))
    return {
        "gradient, all targets ignored": impl.cross_entropy_backward(logits, targets * 0 - 100),
        "gradient, a vocabulary of one token": impl.cross_entropy_backward(logits[:, :1], targets * 0 - 100),
        "gradient, none ignored": impl.cross_entropy_backward(logits, targets).sum(dim=-1).abs() < 1,
    }


@check("logits of 10,000 and more do not overflow", points=1, of=ENTROPY, judge=ROUNDED, requires_any=("entropy",))
def test_entropy_large(impl, given):
    logits, targets = logits_of(given, given.size("T"))
    moved = (logits * 8).round() / 8 + 8192.0  # exact in float32
    return {
        "gradient, compared with logits near 0": [
            impl.cross_entropy_backward(moved, targets),
            impl.cross_entropy_backward(moved - 8192.0, targets),
        ]
    }


def rows_of_weights(given, *leading, dtype="float32"):
    """Return weights (..., V), each row a softmax, and a gradient of them."""
    V = given.size("V")
    return given.normal(*leading, V, dtype=dtype).softmax(dim=-1), given.normal(*leading, V, shift=0.5, dtype=dtype)


@check("the gradient of a softmax subtracts its weighted sum from each row", points=4, of=SOFTMAX)
def test_softmax(impl, given):
    return {"gradient of the scores": impl.softmax_backward(*rows_of_weights(given, given.size("T")))}


@check(
    "there may be any axes before the last one, also of size 1",
    points=1,
    of=SOFTMAX,
    judge=AGREEING,
    requires_any=("softmax",),
)
def test_softmax_axes(impl, given):
    weights, grad = rows_of_weights(given, *given.sizes("B G T"))
    whole = impl.softmax_backward(weights, grad)
    rows = impl.softmax_backward(weights.flatten(0, 2), grad.flatten(0, 2))
    one = impl.softmax_backward(weights[0, 0, 0], grad[0, 0, 0])
    row = impl.softmax_backward(weights[:1, :1, :1], grad[:1, :1, :1])
    return {
        "gradient of four axes, and of two": [whole.flatten(0, 2), rows],
        "of one axis": [one, rows[0]],
        ONE_TOKEN[0]: [row, whole[:1, :1, :1]],
    }


def attention(given, *leading, dtype="float32"):
    """Return query (..., T, K), key (..., S, K), value (..., S, Kv) and the gradient (..., T, Kv) of the output."""
    T, S, K, Kv = given.sizes("T S K Kv")
    shapes = ((T, K), (S, K), (S, Kv), (T, Kv))
    return [given.normal(*leading, *shape, dtype=dtype) for shape in shapes]


@check("the gradient of the values is the transposed weights times the gradient", points=2, of=ATTENTION)
def test_attention_value(impl, given):
    return {"gradient of the value": impl.attention_backward(*attention(given, 2))[2]}


@check("the gradient of the queries is that of the scores times the keys, with the scale", points=2, of=ATTENTION)
def test_attention_query(impl, given):
    return {"gradient of the query": impl.attention_backward(*attention(given, 2))[0]}


@check("the gradient of the keys is that of the scores, transposed, times the queries", points=2, of=ATTENTION)
def test_attention_key(impl, given):
    return {"gradient of the key": impl.attention_backward(*attention(given, 2))[1]}


@check(
    "a masked key gets no gradient, and the others get theirs without it",
    points=2,
    of=ATTENTION,
    judge=AGREEING,
    requires_any=("attention_value", "attention_query", "attention_key"),
)
def test_attention_mask(impl, given):
    query, key, value, grad = attention(given, 2)
    T, S = query.size(-2), key.size(-2)
    kept = given.number(3, S - 2)
    mask = (given.torch.arange(S) < kept).expand(T, S)
    masked = impl.attention_backward(query, key, value, grad, mask)
    alone = impl.attention_backward(query, key[..., :kept, :], value[..., :kept, :], grad)
    seen = [masked[0], *(gradient[..., :kept, :] for gradient in masked[1:])]
    found = {
        f"gradient of the {name}, compared with fewer keys": [a, b]
        for name, a, b in zip(("query", "key", "value"), seen, alone, strict=True)
    }
    closed = [gradient[..., kept:, :].abs().amax() for gradient in masked[1:]]
    return {**found, "largest gradient of a masked key and value, plus 1": given.torch.stack(closed) + 1}


@check(
    "attention of several heads is that of each head, also for one query",
    points=1,
    of=ATTENTION,
    judge=AGREEING,
    requires_any=("attention_value", "attention_query", "attention_key"),
)
def test_attention_axes(impl, given):
    tensors = attention(given, 2, given.size("G"))
    whole = impl.attention_backward(*tensors)
    alone = impl.attention_backward(*(tensor[1, 0] for tensor in tensors))
    names = ("query", "key", "value")
    query, key, value, grad = (tensor[:1, :1] for tensor in tensors)
    four = impl.attention_backward(query[..., :1, :], key, value, grad[..., :1, :])
    two = impl.attention_backward(query[0, 0, :1], key[0, 0], value[0, 0], grad[0, 0, :1])
    found = {name: [a, b[None, None]] for name, a, b in zip(ONE_TOKEN[1:], four, two, strict=True)}
    return found | {
        f"gradient of the {name}, of four axes and of two": [a[1, 0], b]
        for name, a, b in zip(names, whole, alone, strict=True)
    }


def norm(given, *leading, scale=1.5, dtype="float32"):
    """Return x (..., D), weight (D,) and the gradient (..., D) of the output."""
    D = given.size("D")
    x = given.normal(*leading, D, scale=scale, shift=2.0 * scale, dtype=dtype)
    return x, given.normal(D, shift=1.0, dtype=dtype), given.normal(*leading, D, shift=0.3, dtype=dtype)


@check("the gradient of x subtracts two means from each token", points=4, of=NORM)
def test_norm_input(impl, given):
    return {"gradient of x": impl.layer_norm_backward(*norm(given, given.size("T")))[0]}


@check("the gradient of the weight sums the gradient times the normalized x", points=2, of=NORM)
def test_norm_weight(impl, given):
    return {"gradient of the weight": impl.layer_norm_backward(*norm(given, given.size("T")))[1]}


@check("the gradient of the bias is the sum of the gradient", points=1, of=NORM)
def test_norm_bias(impl, given):
    return {"gradient of the bias": impl.layer_norm_backward(*norm(given, given.size("T")))[2]}


@check("eps is added to the variance, and may be another number", points=1, of=NORM, requires_any=("norm_input",))
def test_norm_eps(impl, given):
    eps = given.real(0.5, 2.0)
    x, weight, grad = norm(given, given.size("T"), scale=1.0)
    return {f"gradient of x with eps {eps:.2f}": impl.layer_norm_backward(x, weight, grad, eps)[0]}


@check(
    "layer normalization may get more axes, also of size 1: all but the last are summed over",
    points=1,
    of=NORM,
    judge=AGREEING,
    requires_any=("norm_input", "norm_weight", "norm_bias"),
)
def test_norm_axes(impl, given):
    x, weight, grad = norm(given, *given.sizes("B T"))
    whole = impl.layer_norm_backward(x, weight, grad)
    rows = impl.layer_norm_backward(x.flatten(0, 1), weight, grad.flatten(0, 1))
    return {
        "gradient of x, of three axes and of two": [whole[0], rows[0].unflatten(0, x.shape[:2])],
        "gradient of the weight, of three axes and of two": [whole[1], rows[1]],
        "gradient of the bias, of three axes and of two": [whole[2], rows[2]],
        ONE_TOKEN[0]: [impl.layer_norm_backward(x[:1, :1], weight, grad[:1, :1])[0], whole[0][:1, :1]],
    }


def everything(given, dtype="float32"):
    """Return inputs of all functions, by name."""
    T = given.size("T")
    return {
        LINEAR: linear(given, T, dtype=dtype),
        ENTROPY: logits_of(given, T, dtype=dtype),
        SOFTMAX: rows_of_weights(given, T, dtype=dtype),
        ATTENTION: attention(given, 2, dtype=dtype),
        NORM: norm(given, T, dtype=dtype),
    }


def results(impl, calls):
    """Return what each function returns, as lists of tensors by name."""
    found = {name: getattr(impl, name)(*tensors) for name, tensors in calls.items()}
    return {name: list(found[name]) if isinstance(found[name], tuple) else [found[name]] for name in found}


@check(
    "float64 and bfloat16 inputs keep their dtype",
    points=1,
    judge=Like(tolerance=0.1),
    trials=1,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    seen = {}
    for dtype in ("float64", "bfloat16"):
        calls = everything(given, dtype)
        wide = {name: [one.double() if one.is_floating_point() else one for one in calls[name]] for name in calls}
        for name, own in results(impl, calls).items():
            seen[f"{name}: {dtype}"] = [str(one.dtype) for one in own]
            pairs = [
                [one.double(), other] for one, other in zip(own, results(impl, {name: wide[name]})[name], strict=True)
            ]
            seen[f"{name}: {dtype}, compared with float64"] = pairs[0]
    return seen


@check("new tensors are on the device of the input", points=1, trials=1, judge=AGREEING, requires_any=COMPUTED)
def test_device(impl, given):
    calls = everything(given)
    here = results(impl, calls)
    with given.another_device() as device:
        there = results(impl, {name: [one.to(device) for one in tensors] for name, tensors in calls.items()})
        return {
            f"{name}, result {i + 1}": [a, b]
            for name in here
            for i, (a, b) in enumerate(zip(there[name], here[name], strict=True))
        }


@check("the inputs are not modified", points=1, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    calls = everything(given)
    calls[ENTROPY][1][0] = -100  # ignored, and often replaced by 0
    calls[ATTENTION].append(given.mask(*given.sizes("T S")))
    results(impl, calls)
    return {f"{name}, argument {i + 1}": one for name, tensors in calls.items() for i, one in enumerate(tensors)}


@picture("how each weight of a softmax changes with each score", rows="weight", columns="score")
def picture_softmax(impl, given):
    scores = given.tensor([0.0, 1.0, 2.0, 1.0, 0.0])
    weights = scores.softmax(dim=-1).expand(5, 5)
    labels = [f"{float(weight):.2f}" for weight in weights[0]]
    return impl.softmax_backward(weights, given.torch.eye(5)), labels, labels
