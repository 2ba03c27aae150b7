"""ex05: attention by hand, and as a function of its arguments."""

from autograder.checks import Dropout, Same, check

FUNCTION = "scaled_dot_product_attention"
BY_HAND = "self_attention_by_hand"


def attention_inputs(given, *leading, scale=1.0, dtype="float32"):
    """Return query (..., T, K), key (..., S, K) and value (..., S, Kv); queries and keys are `scale` times as large."""
    T, S, K, Kv = given.sizes("T S K Kv")
    query = given.normal(*leading, T, K, scale=scale, dtype=dtype)
    key = given.normal(*leading, S, K, scale=scale, dtype=dtype)
    return query, key, given.normal(*leading, S, Kv, dtype=dtype)


def attend(impl, *arguments):
    """Observe what the function returns, by name."""
    output, weights = impl.scaled_dot_product_attention(*arguments)
    return {"weights": weights, "output": output}


def finite(given, *tensors):
    """Observe whether there is a number in every place of the tensors."""
    return all(each is not None and bool(given.torch.isfinite(each).all()) for each in tensors)


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


@check("scores are divided by the square root of the key size", points=3, of=FUNCTION)
def test_scaled(impl, given):
    B, H = given.sizes("B H")
    return attend(impl, *attention_inputs(given, B, H))


@check("a blocked key has weight 0, and the others share it all", points=4, of=FUNCTION, judge=Same(exact_zeros=True))
def test_blocked_keys(impl, given):
    B, H, T, S = given.sizes("B H T S")
    return attend(impl, *attention_inputs(given, B, H), given.mask(B, H, T, S))


@check("a mask broadcasts to the scores, one of three axes after it got a head axis", points=3, of=FUNCTION)
def test_mask_axes(impl, given):
    B, T, S = given.sizes("B T S")
    inputs = attention_inputs(given, B, B)  # as many heads as sequences: mixing them up raises no error, it is wrong
    return {
        "mask (T, S)": attend(impl, *inputs, given.mask(T, S)),
        "mask (B, 1, 1, S)": attend(impl, *inputs, given.mask(B, 1, 1, S)),
        "mask (B, 1, T, S)": attend(impl, *inputs, given.mask(B, 1, T, S)),
        "mask (B, T, S)": attend(impl, *inputs, given.mask(B, T, S)),
        "mask (B, 1, S)": attend(impl, *inputs, given.mask(B, 1, S)),
    }


@check("any number of axes may come before the last two", points=2, of=FUNCTION)
def test_leading_axes(impl, given):
    B, T, S, H, N = given.sizes("B T S H N")
    return {
        "two axes": attend(impl, *attention_inputs(given), given.mask(T, S)),
        "three axes": attend(impl, *attention_inputs(given, B), given.mask(B, T, S)),
        "five axes": attend(impl, *attention_inputs(given, N, B, H)),
    }


@check("large scores do not overflow", points=1, of=FUNCTION, judge=Same(tolerance=1e-3))
def test_large_scores(impl, given):
    B, H = given.sizes("B H")
    return attend(impl, *attention_inputs(given, B, H, scale=12.0))


@check("a blocked key stays out however large the scores are", points=3, of=FUNCTION, judge=Same(exact_zeros=True))
def test_blocked_for_good(impl, given):
    T, S = given.sizes("T S")
    query, key, value = attention_inputs(given, 1, 1)
    mask = given.mask(S).expand(T, S)
    query[..., 0] = 5.0
    key[..., 0] = given.torch.where(mask[0], key[..., 0], 200.0)
    low_query, low_key = given.torch.zeros_like(query), given.torch.zeros_like(key)
    low_query[..., 0], low_key[..., 0] = 200.0, -250.0  # one product a score: all are alike, and below -10,000
    return {
        "blocked scores far above": attend(impl, query, key, value, mask),
        "open scores far below 0": attend(impl, low_query, low_key, value, mask),
    }


@check("a query with nothing to attend to stays finite, and so do all gradients", points=3, of=FUNCTION)
def test_nothing_to_attend_to(impl, given):
    B, H, T, S = given.sizes("B H T S")
    mask = given.mask(B, 1, T, S)
    blocked = given.number(0, T)
    mask[:, :, blocked] = False
    others = [row for row in range(T) if row != blocked]

    half, half_weights = impl.scaled_dot_product_attention(*attention_inputs(given, B, H, dtype="float16"), mask)
    inputs = [each.requires_grad_() for each in attention_inputs(given, B, H)]
    output, weights = impl.scaled_dot_product_attention(*inputs, mask)
    again, _ = impl.scaled_dot_product_attention(*inputs, mask)
    gradients = given.gradients(output[:, :, others], *inputs)
    return {
        "finite": finite(given, output, weights),
        "finite in float16": finite(given, half, half_weights),
        "finite gradients": finite(given, *gradients, *given.gradients(again, *inputs)),
        "output of the other queries": output[:, :, others],
        "gradients of the other queries": gradients,
    }


@check("dropout acts on the weights that meet the values, in training only", points=3, of=FUNCTION, judge=Dropout(0.5))
def test_dropout(impl, given):
    B, H, K = given.sizes("B H K")
    dropout = given.torch.nn.Dropout(0.5)
    query, key = given.normal(B, H, 400, K), given.normal(B, H, 2, K)

    # Of two keys, each value stands twice: the output is the weights that met them, and copies are dropped together.
    value = given.tensor([[1, 1, 0, 0], [0, 0, 1, 1]]).expand(B, H, 2, 4)
    taken, _ = impl.scaled_dot_product_attention(query, key, value, None, dropout.eval())
    dropped, weights = impl.scaled_dot_product_attention(query, key, value, None, dropout.train())
    return {
        "eval": taken[..., ::2],
        "train": dropped[..., ::2],
        "copies dropped together": bool((dropped[..., ::2] == dropped[..., 1::2]).all()),
        "weights": weights,
    }


@check("the gradients of query, key and value are right", points=2, of=FUNCTION, judge=Same(tolerance=1e-4))
def test_gradients(impl, given):
    B, H, T, S = given.sizes("B H T S")
    inputs = [each.requires_grad_() for each in attention_inputs(given, B, H)]
    output, _ = impl.scaled_dot_product_attention(*inputs, given.mask(B, H, T, S))
    query, key, value = given.gradients(output, *inputs)
    return {"of the query": query, "of the key": key, "of the value": value}


@check("what comes in stays as it was", points=1, of=FUNCTION)
def test_inputs_kept(impl, given):
    B, H, T, S = given.sizes("B H T S")
    query, key, value = attention_inputs(given, B, H)
    mask = given.mask(B, 1, T, S)
    impl.scaled_dot_product_attention(query, key, value, mask)
    return {"query": query, "key": key, "value": value, "mask": mask}


@check("float64, bfloat16 and float16 stay what they are", points=2, of=FUNCTION, judge=Same(exact_zeros=True))
def test_dtypes(impl, given):
    B, H, T, S = given.sizes("B H T S")
    mask = given.mask(B, 1, T, S)
    seen = {
        dtype: attend(impl, *attention_inputs(given, B, H, dtype=dtype), mask)
        for dtype in ("float64", "bfloat16", "float16")
    }
    # A scale made in float32 is no mistake: of float64 the dtype counts, and the values as far as float32 goes.
    seen["float64"] = {name: [each.dtype, each.float()] for name, each in seen["float64"].items()}
    return seen
