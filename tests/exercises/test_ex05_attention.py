"""ex05: attention by hand, and as a function of its arguments. Each check judges only its claim, so that one fault
fails few of them: `by_hand_steps` and `scaled` compare all numbers. For most others the numbers must resemble the
right ones, and the function must agree with itself."""

from autograder.checks import Dropout, Like, SameInputs, check, picture

FUNCTION = "scaled_dot_product_attention"
BY_HAND = "self_attention_by_hand"
AS_ON_CPU = Like(tolerance=1e-4)
AGREEING = Like(tolerance=1e-4)


def attention_inputs(given, *leading, lengths=None, scale=1.0, dtype="float32"):
    """Return query (..., T, K), key (..., S, K) and value (..., S, Kv); queries and keys are `scale` times as large.

    There are as many queries as keys, unless the lengths T and S are given.
    """
    S, K, Kv = given.sizes("S K Kv")
    T, S = lengths or (S, S)
    query = given.normal(*leading, T, K, scale=scale, dtype=dtype)
    key = given.normal(*leading, S, K, scale=scale, dtype=dtype)
    return query, key, given.normal(*leading, S, Kv, dtype=dtype)


def attend(impl, query, key, value, *others):
    """Return output and weights for copies of the tensors. Another check judges in-place writes.

    The shapes decide which of the two is which. Another check judges their order.
    """
    arguments = [item.clone() if hasattr(item, "clone") else item for item in (query, key, value, *others)]
    first, second = impl.scaled_dot_product_attention(*arguments)
    swapped = getattr(second, "shape", None) == (*query.shape[:-1], value.size(-1))
    return (second, first) if swapped else (first, second)


def two_ways(given, pairs, others):
    """Observe two outputs and two weights that must agree: each row as a sum with random factors."""
    seen = {}
    for name, one, other in zip(("output", "weights"), pairs, others, strict=True):
        factors = given.normal(one.size(-1))
        seen[name] = [(tensor * factors).sum(dim=-1) for tensor in (one, other)]
    return seen


def inputs_by_hand(given, dtype="float32"):
    """Return x (T, D), and the matrices w_q (D, K), w_k (D, K) and w_v (D, Kv)."""
    T, D, K, Kv = given.sizes("T D K Kv")
    x, scale = given.normal(T, D, dtype=dtype), D**-0.5
    w_q, w_k = (given.normal(D, K, scale=1.5 * scale, dtype=dtype) for _ in range(2))
    return x, w_q, w_k, given.normal(D, Kv, scale=scale, dtype=dtype)


def steps_by_hand(impl, given):
    return impl.self_attention_by_hand(*inputs_by_hand(given))


@check("by hand: queries, keys and values are the tokens times three matrices", points=2, of=BY_HAND)
def test_by_hand_projections(impl, given):
    steps = steps_by_hand(impl, given)
    return {"queries": steps.queries, "keys": steps.keys, "values": steps.values}


@check("by hand: scores, weights and output are computed from them", points=3, of=BY_HAND)
def test_by_hand_steps(impl, given):
    steps = steps_by_hand(impl, given)
    return {"scores": steps.scores, "weights": steps.weights, "output": steps.output}


@check("by hand: scores of any size give finite weights", points=2, of=BY_HAND, judge=Like())
def test_by_hand_large(impl, given):
    x, *matrices = inputs_by_hand(given)
    x[0] *= 1000  # row 0 and column 0 have huge scores of both signs, other rows may have none above 1
    return {"weights": impl.self_attention_by_hand(x, *matrices).weights}


BY_HAND_FREE = Like(free=("output on another device, compared with the CPU", "output, compared with float32"))


@check(
    "by hand: the inputs are not modified, and the steps have their dtype, device and axes",
    points=1,
    of=BY_HAND,
    trials=1,
    judge=BY_HAND_FREE,
    requires_any=("by_hand_projections",),
)
def test_by_hand_kept(impl, given):
    inputs = inputs_by_hand(given)
    before = [tensor.clone() for tensor in inputs]
    here = impl.self_attention_by_hand(*inputs).output
    names = ("x", "w_q", "w_k", "w_v")
    seen = {
        f"{name} after the call, compared with before": list(both)
        for name, *both in zip(names, inputs, before, strict=True)
    }
    one_token = impl.self_attention_by_hand(inputs[0][:1], *inputs[1:])
    seen["steps of one token with every number set to 0"] = {
        name: given.torch.zeros_like(getattr(one_token, name))
        for name in ("queries", "keys", "values", "scores", "weights", "output")
    }
    for dtype in ("float64", "bfloat16", "float16"):
        narrow = inputs_by_hand(given, dtype)
        outputs = [
            impl.self_attention_by_hand(*triple).output for triple in (narrow, [tensor.float() for tensor in narrow])
        ]
        seen[dtype] = {"output, compared with float32": [tensor[..., :3] for tensor in outputs]}
    with given.another_device() as device:
        there = impl.self_attention_by_hand(*(tensor.to(device) for tensor in inputs)).output
        return {**seen, "output on another device, compared with the CPU": [there[..., :3], here[..., :3]]}


@check("a query of zeros gives all keys equal weights and returns the mean of the values", points=3, of=FUNCTION)
def test_equal_scores(impl, given):
    B, H = given.sizes("B H")
    query, key, value = attention_inputs(given, B, H, lengths=given.sizes("T S"))
    output, weights = impl.scaled_dot_product_attention(query * 0, key, value)
    return {"weights": weights, "output": output}  # their sums show more than the output does


@check("scores are divided by the square root of the key size", points=4, of=FUNCTION)
def test_scaled(impl, given):
    B, H = given.sizes("B H")
    output, weights = attend(impl, *attention_inputs(given, B, H, lengths=given.sizes("T S")))
    return {"weights": weights, "output": output}


@check(
    "a blocked key has weight 0, and the other weights sum to 1", points=4, of=FUNCTION, judge=Like(exact_zeros=True)
)
def test_blocked_keys(impl, given):
    B, H, S = given.sizes("B H S")
    inputs, mask = attention_inputs(given, B, H), given.mask(B, H, S, S)
    _, free = attend(impl, *inputs, given.torch.ones_like(mask))
    _, weights = attend(impl, *inputs, mask)
    free = free + (free.sum(dim=-1, keepdim=True) == 0)  # an inverted mask may leave nothing
    left = free * mask
    fair = left * free.sum(dim=-1, keepdim=True) / left.sum(dim=-1, keepdim=True)
    return {"weights under a mask": [weights, fair]}


@check(
    "a mask broadcasts to the scores; a mask of three axes gets a head axis",
    points=3,
    of=FUNCTION,
    judge=AGREEING,
)
def test_mask_axes(impl, given):
    B, (T, S) = given.size("B"), sorted(given.sizes("T S"))  # fewer queries than keys: a mask cut to T by T fails
    inputs = attention_inputs(given, B, B, lengths=(T, S))  # as many heads as sequences: a mix-up raises no error
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
        seen[f"{form}, compared with the same mask for every score"] = two_ways(given, results, in_full)
    return seen


ONE_SENTENCE = ("output of one sentence, compared with all", "weights of one sentence, compared with all")


@check(
    "the inputs may have any axes before the last two, also of size 1",
    points=2,
    of=FUNCTION,
    judge=Like(tolerance=1e-4, free=ONE_SENTENCE),
)
def test_leading_axes(impl, given):
    B, S, H = given.sizes("B S H")
    five = attention_inputs(given, 2, B, H)
    four = [tensor.flatten(0, 1) for tensor in five]
    mask = given.mask(2 * B, 1, S, S)
    whole = attend(impl, *four)
    one_head = [tensor[:, 0] for tensor in attend(impl, *(tensor[:, :1] for tensor in four), mask)]
    three = [tensor[:, 0] for tensor in four]
    # Use several matrices: a few numbers could resemble others by chance.
    single = [attend(impl, *(tensor[row, head] for tensor in four)) for row in range(2 * B) for head in range(2)]
    two = [given.torch.stack(tensors) for tensors in zip(*single, strict=True)]
    one = attend(impl, *(tensor[:1] for tensor in four))
    token = attend(impl, *(tensor[:1, :1, :1] for tensor in four))
    return {
        **dict(zip(ONE_SENTENCE, ([part, all_[:1]] for part, all_ in zip(one, whole, strict=True)), strict=True)),
        "input of five axes, compared with four": two_ways(
            given, attend(impl, *five), [tensor.unflatten(0, (2, B)) for tensor in whole]
        ),
        "input of two axes, compared with four": two_ways(
            given, two, [tensor[:, :2].flatten(0, 1) for tensor in whole]
        ),
        "input of three axes under a mask, compared with four": two_ways(
            given, attend(impl, *three, mask[:, 0]), one_head
        ),
        "input of three axes under an open mask, compared with four and no mask": two_ways(
            given, attend(impl, *three, given.torch.ones_like(mask[:, 0])), [tensor[:, 0] for tensor in whole]
        ),
        "output of a single token with every number set to 0": given.torch.zeros_like(token[0]),
        "weights of a single token with every number set to 0": given.torch.zeros_like(token[1]),
    }


@check("large scores do not overflow", points=1, of=FUNCTION, judge=Like(tolerance=0.01))
def test_large_scores(impl, given):
    B, H, K = given.sizes("B H K")
    query, key, value = attention_inputs(given, B, H)
    key[..., 0] = 1.0
    seen = {}
    for name, more in (("scores", 0.0), ("far larger scores", 100.0 * K)):  # the same for every key: no weight changes
        query[..., 0] = more
        seen[name], _ = attend(impl, query, key, value)
    return {"output at far larger scores, compared with usual ones": [seen["far larger scores"], seen["scores"]]}


FAR = Like(exact_zeros=True, likeness=0.8)  # equal scores leave few different numbers


@check("a blocked key gets weight 0, however large the scores are", points=2, of=FUNCTION, judge=FAR)
def test_blocked_for_good(impl, given):
    B, H, S = given.sizes("B H S")
    query, key, value = attention_inputs(given, B, H)
    allowed = given.mask(S)
    query[..., 0] = 5.0
    key[..., 0] = given.torch.where(allowed, key[..., 0], 200.0)
    low_query, low_key = given.torch.zeros_like(query), given.torch.zeros_like(key)
    low_query[..., 0], low_key[..., 0] = 200.0, -250.0  # one product per score: all are equal, and below -10,000
    apart = given.torch.stack([value[..., 0] * ~allowed, value[..., 0] * allowed], dim=-1)

    def parts(query, key):
        output, _ = attend(impl, query, key, apart, allowed.expand(S, S))
        return {
            "what the output takes from blocked keys": output[..., 0],
            "what the output takes from open keys": output[..., 1],
        }

    return {
        "blocked scores far above the others": parts(query, key),
        "open scores far below 0": parts(low_query, low_key),
    }


FREE = (
    "output of the blocked query",
    "weights of the blocked query",
    *(f"gradient of the {name}" for name in ("query", "key", "value")),
)


@check(
    "a query with nothing to attend to stays finite, with finite gradients",
    points=3,
    of=FUNCTION,
    judge=Like(exact_zeros=True, likeness=0.3, free=FREE),
)
def test_nothing_to_attend_to(impl, given):
    B, H, S = given.sizes("B H S")
    mask = given.mask(B, 1, S, S)
    blocked = given.number(0, S)
    others = [row for row in range(S) if row != blocked]
    inputs = [tensor.requires_grad_() for tensor in attention_inputs(given, B, H)]

    _, before = attend(impl, *inputs, mask)
    mask[:, :, blocked] = False
    output, weights = attend(impl, *inputs, mask)
    again, _ = attend(impl, *inputs, mask)
    return {
        "output of the blocked query": output[:, :, blocked],
        "weights of the blocked query": weights[:, :, blocked],
        **summed(given.gradients(output, *inputs), ""),
        **summed(given.gradients(again[:, :, others], *inputs), ", from the other queries only"),
        "weights of the other queries, compared with no query blocked": [weights[:, :, others], before[:, :, others]],
    }


def summed(gradients, of):
    """Observe gradients by their sums over heads, which are finite only if all of them are."""
    names = [f"gradient of the {name}{of}" for name in ("query", "key", "value")]
    return {
        name: gradient if gradient is None else gradient.sum(dim=1)
        for name, gradient in zip(names, gradients, strict=True)
    }


@check("dropout acts on the weights before the values, only in training", points=3, of=FUNCTION, judge=Dropout(0.25))
def test_dropout(impl, given):
    keys, K, dropout = 16, given.size("K"), given.torch.nn.Dropout(0.25)
    query, key = given.normal(1, 3, keys, K), given.normal(1, 3, keys, K)
    _, weights = attend(impl, query, key, key)
    _, in_training = attend(impl, query, key, key, None, dropout.train())

    # A query of zeros has equal weights. Value s is one number at index s, so the output is the weights times
    # these numbers. The output contains each of them twice: dropping a weight drops both.
    numbers = given.normal(keys).abs() + 1
    value = numbers.diag().expand(1, 3, keys, keys).repeat(1, 1, 1, 2)
    taken, _ = attend(impl, query * 0, key, value, None, dropout.eval())
    dropped, _ = attend(impl, query * 0, key, value, None, dropout.train())
    first, copy = dropped.chunk(2, dim=-1)

    # Both arguments at once, compared with the same mask alone: another check judges what a mask does.
    mask = given.mask(keys, keys)
    alone, _ = attend(impl, query * 0, key, value, mask)
    both, _ = attend(impl, query * 0, key, value, mask, dropout.train())
    is_open = alone != 0
    share = ((both == 0) & is_open).sum() / is_open.sum()
    return {
        "numbers that are 0 with a mask, but not with a mask and dropout": int(((both != 0) & ~is_open).sum()),
        "share dropped with a mask, in quarters": round(4 * float(share)),
        "eval": taken[..., :keys],
        "train": first,
        "difference in training of two outputs with the same weights": first - copy,  # 0 whatever is drawn
        "weights in training, compared with those without dropout": [in_training, weights],
    }


@check("the gradients of query, key and value are right", points=2, of=FUNCTION, judge=Like(tolerance=1e-3))
def test_gradients(impl, given):
    B, H = given.sizes("B H")
    inputs = attention_inputs(given, 5 * B, H, dtype="float64")
    names = [f"gradient of the {name}, compared with small steps" for name in ("query", "key", "value")]
    return dict(zip(names, given.slopes(lambda *at: attend(impl, *at)[0], *inputs), strict=True))


@check(
    "the inputs are not modified",
    points=1,
    of=FUNCTION,
    requires_any=("blocked_keys", "large_scores"),
    judge=SameInputs(),
)
def test_inputs_kept(impl, given):
    B, H, S = given.sizes("B H S")
    query, key, value = attention_inputs(given, B, H)
    mask, mask_of_three = given.mask(B, 1, S, S), given.mask(1, S, S)  # 1: without a head axis it still fits
    for allowed in (mask, mask_of_three):
        impl.scaled_dot_product_attention(query, key, value, allowed)
    return {"query": query, "key": key, "value": value, "mask": mask, "mask of three axes": mask_of_three}


def comparable(given, narrow, wide):
    """Return two ways to the same numbers, with 0 for a first query that is also not finite in float32.

    It has nothing to attend to. Another check judges that it stays finite.
    """
    gone = ~wide.isfinite()
    gone[..., 1:, :] = False
    return [given.torch.where(gone, 0, tensor) for tensor in (narrow, wide)]


@check("float64, bfloat16 and float16 inputs keep their dtype", points=2, of=FUNCTION, judge=Like(exact_zeros=True))
def test_dtypes(impl, given):
    S = given.size("S")
    mask = given.mask(1, 1, S, S)
    mask[:, :, 0] = False
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        inputs = attention_inputs(given, 1, 2, scale=0.5, dtype=dtype)
        results = attend(impl, *inputs, mask)
        wide = attend(impl, *(tensor.float() for tensor in inputs), mask)
        seen[dtype] = {
            f"{name}, compared with float32": [tensor[..., :3] for tensor in comparable(given, *both)]
            for name, *both in zip(("output", "weights"), results, wide, strict=True)
        }
    return seen


@check("new tensors are on the device of the input", points=1, of=FUNCTION, trials=1, judge=AS_ON_CPU)
def test_device(impl, given):
    B, H, S = given.sizes("B H S")
    inputs, mask = [tensor.requires_grad_() for tensor in attention_inputs(given, B, H)], given.mask(B, 1, S, S)

    def run(device, mask=None):
        return attend(impl, *(tensor.to(device) for tensor in inputs), mask if mask is None else mask.to(device))

    here = [*run("cpu"), *run("cpu", mask)]  # a tensor kept from these calls must not be used on the other device
    names = ("output", "weights", "output under a mask", "weights under a mask")
    with given.another_device() as device:
        results = [*run(device), *run(device, mask)]
        given.gradients(results[2], *inputs)  # the backward pass also runs on the other device
        return {
            name: [there[..., :3], before[..., :3]] for name, there, before in zip(names, results, here, strict=True)
        }


WANTS = {  # for each word: what it is, and what it looks for (person, action, thing, quality)
    "she": ((1, 0, 0, 0), (0, 1, 0, 0)),
    "eats": ((0, 1, 0, 0), (1, 0, 1, 0)),
    "a": ((0, 0, 0, 0), (0, 0, 1, 0)),
    "green": ((0, 0, 0, 1), (0, 0, 1, 0)),
    "apple": ((0, 0, 1, 0), (0, 0, 0, 1)),
}


@picture("what each word looks for: weights of queries and keys set by hand", rows="query", columns="key")
def picture_weights(impl, given):
    keys, queries = (given.tensor([vectors[i] for vectors in WANTS.values()]) for i in (0, 1))
    _, weights = attend(impl, 6 * queries[None], keys[None], keys[None])
    return weights[0], list(WANTS), list(WANTS)
