"""ex05: attention by hand, and as a function of its arguments. Each check sees only what it claims, so that one fault
fails few of them: `by_hand_steps` and `scaled` compare all numbers, the others compare the function with itself."""

from autograder.checks import Dropout, Same, check, picture

FUNCTION = "scaled_dot_product_attention"
BY_HAND = "self_attention_by_hand"
NO_DIFFERENCE = Same(tolerance=0.04)  # of what is 0 without rounding, 4e-5 is left


def attention_inputs(given, *leading, lengths=None, scale=1.0, dtype="float32"):
    """Return query (..., T, K), key (..., S, K) and value (..., S, Kv); queries and keys are `scale` times as large.

    There are as many queries as keys, except where the lengths T and S are given.
    """
    S, K, Kv = given.sizes("S K Kv")
    T, S = lengths or (S, S)
    query = given.normal(*leading, T, K, scale=scale, dtype=dtype)
    key = given.normal(*leading, S, K, scale=scale, dtype=dtype)
    return query, key, given.normal(*leading, S, Kv, dtype=dtype)


def attend(impl, query, key, value, *others):
    """Return output and weights for copies of the tensors: what writes into them has a check of its own.

    The two come in this order, by their shapes: which of them is returned first has a check of its own, too.
    """
    arguments = [each.clone() if hasattr(each, "clone") else each for each in (query, key, value, *others)]
    first, second = impl.scaled_dot_product_attention(*arguments)
    swapped = getattr(second, "shape", None) == (*query.shape[:-1], value.size(-1))
    return (second, first) if swapped else (first, second)


def differences(pairs, others):
    """Observe the differences of two outputs, and of two weights."""
    return {name: one - other for name, one, other in zip(("output", "weights"), pairs, others, strict=True)}


def finite(given, *tensors):
    """Observe whether there is a number in every place of the tensors that there are."""
    return all(bool(given.torch.isfinite(each).all()) for each in tensors if each is not None)


def slopes(given, function, *inputs):
    """Observe the slope along a random direction of each input: by its gradient, over that by a small step."""
    directions = [given.normal(*each.shape, dtype="float64") for each in inputs]
    share = given.normal(*function(*inputs).shape, dtype="float64")

    def total(*at):
        return (function(*at) * share).sum()

    def moved(i, step):
        return total(*(each + step * directions[i] if i == j else each for j, each in enumerate(inputs)))

    leaves = [each.clone().requires_grad_() for each in inputs]
    result, found, step, almost_0 = total(*leaves), [], 1e-5, 1e-6  # the last for an input that nothing depends on
    gradients = given.torch.autograd.grad(result, leaves, allow_unused=True) if result.requires_grad else [None] * 3
    for i, gradient in enumerate(gradients):
        measured = float((moved(i, step) - moved(i, -step)).detach()) / (2 * step)
        slope = 0.0 if gradient is None else float((gradient * directions[i]).sum())
        found.append((slope + almost_0) / (measured + almost_0))
    return found


def steps_by_hand(impl, given):
    T, D, K, Kv = given.sizes("T D K Kv")
    x, scale = given.normal(T, D), D**-0.5
    w_q, w_k = given.normal(D, K, scale=1.5 * scale), given.normal(D, K, scale=1.5 * scale)
    return impl.self_attention_by_hand(x, w_q, w_k, given.normal(D, Kv, scale=scale))


@check("by hand: queries, keys and values are the tokens times three matrices", points=2, of=BY_HAND)
def test_by_hand_projections(impl, given):
    steps = steps_by_hand(impl, given)
    return {"queries": steps.queries, "keys": steps.keys, "values": steps.values}


@check("by hand: scores, weights and output follow from them", points=3, of=BY_HAND)
def test_by_hand_steps(impl, given):
    steps = steps_by_hand(impl, given)
    return {"scores": steps.scores, "weights": steps.weights, "output": steps.output}


@check("a query of zeros takes the average of the values, with equal weights for the keys", points=3, of=FUNCTION)
def test_equal_scores(impl, given):
    B, H = given.sizes("B H")
    query, key, value = attention_inputs(given, B, H, lengths=given.sizes("T S"))
    output, weights = impl.scaled_dot_product_attention(query * 0, key, value)
    return {"output": output, "weights": weights}


@check("scores are divided by the square root of the key size", points=4, of=FUNCTION)
def test_scaled(impl, given):
    B, H = given.sizes("B H")
    output, weights = attend(impl, *attention_inputs(given, B, H, lengths=given.sizes("T S")))
    return {"weights": weights, "output": output}


@check("a blocked key has weight 0, and the others share it all", points=4, of=FUNCTION, judge=Same(exact_zeros=True))
def test_blocked_keys(impl, given):
    B, H, S = given.sizes("B H S")
    inputs, mask = attention_inputs(given, B, H), given.mask(B, H, S, S)
    _, free = attend(impl, *inputs, given.torch.ones_like(mask))
    _, weights = attend(impl, *inputs, mask)
    free = free + (free.sum(dim=-1, keepdim=True) == 0)  # a mask read backwards may leave nothing at all
    left = free * mask
    fair = left * free.sum(dim=-1, keepdim=True) / left.sum(dim=-1, keepdim=True)
    return {"weight over its fair share": given.torch.where(mask, weights / fair, weights)}


@check(
    "a mask broadcasts to the scores, one of three axes after it got a head axis",
    points=3,
    of=FUNCTION,
    judge=NO_DIFFERENCE,
)
def test_mask_axes(impl, given):
    B, (T, S) = given.size("B"), sorted(given.sizes("T S"))  # fewer queries than keys: a mask cut to T by T is noticed
    inputs = attention_inputs(given, B, B, lengths=(T, S))  # as many heads as sequences: mixed up, they raise no error
    _, free = attend(impl, *inputs, given.torch.ones_like(given.mask(B, B, T, S)))
    wholes = {
        "mask (T, S)": given.mask(1, 1, T, S),
        "mask (B, 1, 1, S)": given.mask(B, 1, 1, S),
        "mask (B, 1, T, S)": given.mask(B, 1, T, S),
        "mask (B, T, S)": given.mask(B, 1, T, S),
        "mask (B, 1, S)": given.mask(B, 1, 1, S),
    }
    seen = {}
    for form, whole in wholes.items():
        mask = (whole, whole[:, 0], whole[0, 0])[3 - form.count(",")]
        results = attend(impl, *inputs, mask)
        in_full = attend(impl, *inputs, whole.expand(B, B, T, S))
        seen[f"{form} - the same mask written out for every score"] = differences(results, in_full)
        seen[f"{form} has an effect"] = bool((results[1] != free).any())
    return seen


@check("any number of axes may come before the last two", points=2, of=FUNCTION, judge=NO_DIFFERENCE)
def test_leading_axes(impl, given):
    B, S, H = given.sizes("B S H")
    five = attention_inputs(given, 2, B, H)
    four = [each.flatten(0, 1) for each in five]
    mask = given.mask(2 * B, 1, S, S)
    whole = attend(impl, *four)
    one_head = [each[:, 0] for each in attend(impl, *(each[:, :1] for each in four), mask)]
    three = [each[:, 0] for each in four]
    return {
        "five axes - four": differences(attend(impl, *five), [each.unflatten(0, (2, B)) for each in whole]),
        "two axes - four": differences(attend(impl, *(each[1, 1] for each in four)), [each[1, 1] for each in whole]),
        "three axes - four, with a mask": differences(attend(impl, *three, mask[:, 0]), one_head),
        "three axes and a mask that blocks nothing - four and no mask": differences(
            attend(impl, *three, given.torch.ones_like(mask[:, 0])), [each[:, 0] for each in whole]
        ),
    }


@check("large scores do not overflow", points=1, of=FUNCTION, judge=Same(tolerance=10.0))
def test_large_scores(impl, given):
    B, H, K = given.sizes("B H K")
    query, key, value = attention_inputs(given, B, H)
    key[..., 0] = 1.0
    seen = {}
    for name, more in (("scores", 0.0), ("far larger scores", 100.0 * K)):  # the same for every key: no weight changes
        query[..., 0] = more
        seen[name], _ = attend(impl, query, key, value)
    return {"output for far larger scores - output": seen["far larger scores"] - seen["scores"]}


@check("a blocked key stays out however large the scores are", points=2, of=FUNCTION, judge=Same(exact_zeros=True))
def test_blocked_for_good(impl, given):
    S = given.size("S")
    query, key, _ = attention_inputs(given, 1, 1)
    allowed = given.mask(S)
    query[..., 0] = 5.0
    key[..., 0] = given.torch.where(allowed, key[..., 0], 200.0)
    low_query, low_key = given.torch.zeros_like(query), given.torch.zeros_like(key)
    low_query[..., 0], low_key[..., 0] = 200.0, -250.0  # one product a score: all are alike, and below -10,000
    value = given.torch.stack([~allowed, allowed], dim=-1).to(query).expand(1, 1, S, 2)

    def blocked_share(query, key):
        output, _ = attend(impl, query, key, value, allowed.expand(S, S))
        return output[..., 0] / output.sum(dim=-1)

    return {
        "blocked share, blocked scores far above": blocked_share(query, key),
        "blocked share, open scores far below 0": blocked_share(low_query, low_key),
    }


@check("a query with nothing to attend to stays finite, and so do all gradients", points=3, of=FUNCTION)
def test_nothing_to_attend_to(impl, given):
    B, H, S = given.sizes("B H S")
    mask = given.mask(B, 1, S, S)
    blocked = given.number(0, S)
    others = [row for row in range(S) if row != blocked]
    inputs = [each.requires_grad_() for each in attention_inputs(given, B, H)]

    _, before = attend(impl, *inputs, mask)
    mask[:, :, blocked] = False
    output, weights = attend(impl, *inputs, mask)
    again, _ = attend(impl, *inputs, mask)
    return {
        "finite": finite(given, output, weights),
        "finite gradients": finite(given, *given.gradients(output, *inputs)),
        "finite gradients of the other queries": finite(given, *given.gradients(again[:, :, others], *inputs)),
        "other queries keep their blocked keys": bool(((before == 0) == (weights == 0))[:, :, others].all()),
    }


@check("dropout acts on the weights that meet the values, in training only", points=3, of=FUNCTION, judge=Dropout(0.25))
def test_dropout(impl, given):
    keys, K, dropout = 16, given.size("K"), given.torch.nn.Dropout(0.25)
    query, key = given.normal(2, 3, keys, K), given.normal(2, 3, keys, K)
    _, weights = attend(impl, query, key, key)
    _, in_training = attend(impl, query, key, key, None, dropout.train())

    # A query of zeros has equal weights. Value s is 1 at place s, so the output is the weights, and all of it stands
    # there twice: what drops a weight drops both.
    value = given.torch.eye(keys, device=given.device).to(key).expand(2, 3, keys, keys).repeat(1, 1, 1, 2)
    taken, _ = attend(impl, query * 0, key, value, None, dropout.eval())
    dropped, _ = attend(impl, query * 0, key, value, None, dropout.train())
    each, copy = dropped.chunk(2, dim=-1)
    return {
        "eval": taken[..., :keys] / taken.mean(),
        "train": each / taken.mean(),
        "copies dropped together": bool((each == copy).all()),
        "drawn anew along every axis": all(bool((each != each.narrow(axis, 0, 1)).any()) for axis in range(4)),
        "the weights returned are those before": bool(given.torch.allclose(weights, in_training)),
    }


@check("the gradients of query, key and value are right", points=2, of=FUNCTION, judge=Same(tolerance=1e-3))
def test_gradients(impl, given):
    B, H = given.sizes("B H")
    inputs = attention_inputs(given, B, H, dtype="float64")
    names = [f"slope along the {name}: by gradient / by small steps" for name in ("query", "key", "value")]
    return dict(zip(names, slopes(given, lambda *at: attend(impl, *at)[0], *inputs), strict=True))


@check("what comes in stays as it was", points=1, of=FUNCTION)
def test_inputs_kept(impl, given):
    B, H, S = given.sizes("B H S")
    query, key, value = attention_inputs(given, B, H)
    mask = given.mask(B, 1, S, S)
    impl.scaled_dot_product_attention(query, key, value, mask)
    return {"query": query, "key": key, "value": value, "mask": mask}


@check("float64, bfloat16 and float16 stay what they are", points=2, of=FUNCTION)
def test_dtypes(impl, given):
    B, H, S = given.sizes("B H S")
    mask = given.mask(B, 1, S, S)
    mask[:, :, 0] = False
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        inputs = attention_inputs(given, B, H, scale=0.5, dtype=dtype)
        output, weights = attend(impl, *inputs, mask)
        wide, wide_weights = attend(impl, *(each.float() for each in inputs), mask)
        off = given.torch.where(wide.isfinite(), output.to(wide.dtype) - wide, 0.0)
        seen[dtype] = {
            "dtypes": [output.dtype, weights.dtype],
            "1 + difference from float32": 1 + off.to(output.dtype if dtype != "float64" else wide.dtype),
            "blocked keys that get weight": int(((weights != 0) & (wide_weights == 0)).sum()),
        }
    return seen


@check("what is made inside is made on the device of what comes in", points=1, of=FUNCTION)
def test_device(impl, given):
    B, H, S = given.sizes("B H S")
    inputs, mask = [each.requires_grad_() for each in attention_inputs(given, B, H)], given.mask(B, 1, S, S)

    def run(device, mask=None):
        return attend(impl, *(each.to(device) for each in inputs), mask if mask is None else mask.to(device))

    here = [*run("cpu"), *run("cpu", mask)]  # what is kept from these calls must not be used on the other device
    names = ("output", "weights", "output under a mask", "weights under a mask")
    with given.another_device() as device:
        seen, results = {}, [*run(device), *run(device, mask)]
        for name, there, before in zip(names, results, here, strict=True):
            seen[name] = there.new_zeros(())
            seen[f"{name} as on the CPU"] = bool(given.torch.allclose(there, before.to(there.device), atol=1e-4))
        given.gradients(results[2], *inputs)  # the way back runs there as well
        return seen


WANTS = {  # for each word what it is, and what it looks for: a person, a deed, a thing, a quality
    "she": ((1, 0, 0, 0), (0, 1, 0, 0)),
    "eats": ((0, 1, 0, 0), (1, 0, 1, 0)),
    "a": ((0, 0, 0, 0), (0, 0, 1, 0)),
    "green": ((0, 0, 0, 1), (0, 0, 1, 0)),
    "apple": ((0, 0, 1, 0), (0, 0, 0, 1)),
}


@picture("what each word looks for: weights of queries and keys set by hand", rows="query", columns="key")
def picture_weights(impl, given):
    keys, queries = (given.tensor([each[i] for each in WANTS.values()]) for i in (0, 1))
    _, weights = attend(impl, 6 * queries[None], keys[None], keys[None])
    return weights[0], list(WANTS), list(WANTS)
