"""ex21: the mask of a sliding window with sinks, and a cache that drops what no later token can see.

A cache may drop early or late. So its returned rows are judged where both ways agree: the sinks, the rows that the
window of the first new token needs, and the new ones.
"""

from autograder.checks import Like, Raises, SameInputs, check, picture

MASK, CACHE = "sliding_window_mask", "RollingKVCache"
MASKED = ("window", "causal", "sinks")  # one of them passes unless nothing is computed
STORED = ("first_update", "value_width", "window_kept", "own_store", "chunks")
FEW = 2  # features are enough if all features are stored in the same way


# The mask


def lengths(given):
    """Return numbers of queries and keys, and a window. A mask depends on nothing else, so they are drawn."""
    T, S, M = given.sizes("T S M")
    return T, S + given.number(0, 20), M


@check("without a window, the mask is causal from the end of the keys", points=2, of=MASK)
def test_causal(impl, given):
    T, S, _ = lengths(given)
    return {
        "as many queries as keys": impl.sliding_window_mask(query_len=T, key_len=T),
        "fewer queries than keys": impl.sliding_window_mask(query_len=T, key_len=S, window=None),
        "one query": impl.sliding_window_mask(query_len=1, key_len=S),
    }


@check("a query sees the last `window` keys, its own included", points=3, of=MASK)
def test_window(impl, given):
    T, S, M = lengths(given)
    return {
        "as many queries as keys": impl.sliding_window_mask(query_len=S, key_len=S, window=M),
        "fewer queries than keys": impl.sliding_window_mask(query_len=T, key_len=S, window=M + 1),
        "window 1": impl.sliding_window_mask(query_len=3, key_len=S, window=1),
        "one query": impl.sliding_window_mask(query_len=1, key_len=S, window=M + 2),
    }


@check("a window beyond the text is causal, and sizes may be 0 or 1", points=1, of=MASK)
def test_extremes(impl, given):
    T, S, _ = lengths(given)
    return {
        "window as long as the text": impl.sliding_window_mask(query_len=S, key_len=S, window=S),
        "window beyond the text": impl.sliding_window_mask(query_len=T, key_len=S, window=S + 9, sinks=2),
        "mask without queries": impl.sliding_window_mask(query_len=0, key_len=S, window=3),
        "mask of one query and one key": impl.sliding_window_mask(query_len=1, key_len=1, window=3),
        "mask without keys": impl.sliding_window_mask(query_len=0, key_len=0, window=3, sinks=1),
    }


@check("the first `sinks` keys stay visible, but never before they come", points=3, of=MASK)
def test_sinks(impl, given):
    T, S, M = lengths(given)
    return {
        "as many queries as keys": impl.sliding_window_mask(query_len=S, key_len=S, window=M, sinks=2),
        "fewer queries than keys": impl.sliding_window_mask(query_len=T, key_len=S, window=2, sinks=3),
        "more sinks than keys": impl.sliding_window_mask(query_len=T, key_len=T, window=2, sinks=T + 2),
        "sinks without a window": impl.sliding_window_mask(query_len=T, key_len=S, sinks=3),
    }


@check("a window below 1 raises an error with the number", points=1, of=MASK, judge=Raises(), requires_any=MASKED)
def test_window_refused(impl, given):
    window = -given.number(3, 90)
    return given.raises(lambda: impl.sliding_window_mask(query_len=7, key_len=8, window=window), -window)


@check("a window of 0 raises an error", points=1, of=MASK, judge=Raises(), trials=1, requires_any=MASKED)
def test_window_of_0(impl, given):
    return given.raises(lambda: impl.sliding_window_mask(query_len=7, key_len=8, window=0))


@check(
    "more queries than keys raise an error with both numbers", points=1, of=MASK, judge=Raises(), requires_any=MASKED
)
def test_queries_refused(impl, given):
    S = given.number(10, 40)
    T = S + given.number(1, 9)
    return given.raises(lambda: impl.sliding_window_mask(query_len=T, key_len=S, window=3), T, S)


@check("the mask is made on the given device", points=1, of=MASK, trials=1)
def test_mask_device(impl, given):
    S, M = given.sizes("S M")
    with given.another_device() as device:
        scores = given.normal(S, S).to(device)
        sizes = {"query_len": S, "key_len": S, "device": device}
        options = ({}, {"window": M}, {"window": M, "sinks": 2})
        masks = [impl.sliding_window_mask(**sizes, **more) for more in options]
        return {"scores under the masks": [scores.masked_fill(~mask, 0.0) for mask in masks]}


# The cache


def new_tokens(given, T, dtype="float32"):
    """Return key and value (B, G, T, K) of T tokens."""
    B, G, K = given.sizes("B G K")
    return given.normal(B, G, T, K, dtype=dtype), given.normal(B, G, T, K, dtype=dtype)


def ends_of(both, sinks, last):
    """Return the first `sinks` rows and the last `last` rows of what `update` returned, with few features.

    A cache may return views of its memory, which the next update may change.
    """
    if not isinstance(both, tuple | list) or len(both) != 2 or any(getattr(tensor, "ndim", 0) != 4 for tensor in both):
        return both
    keys, values = both[0][..., :FEW].clone(), both[1][..., -FEW:].clone()
    return {
        "keys of the sinks": keys[:, :, :sinks],
        "values of the sinks": values[:, :, :sinks],
        "keys of window and new tokens": keys[:, :, keys.size(2) - min(last, keys.size(2)) :],
        "values of window and new tokens": values[:, :, values.size(2) - min(last, values.size(2)) :],
        "features of the values": both[1].shape[-1],
    }


@check("the first update returns what came in, also if it is longer than the window", points=2, of=CACHE)
def test_first_update(impl, given):
    T, M = given.sizes("T M")
    seen = {}
    for name, length, sinks in (("a short text", 2, 1), ("a long text", T, 1), ("a long text, no sinks", T, 0)):
        key, value = new_tokens(given, length)
        cache = impl.RollingKVCache(window=M, sinks=sinks)
        keys, values = cache.update(key, value=value)
        seen[name] = {"keys": keys[..., :FEW], "values": values[..., -FEW:], "features of the values": values.shape[-1]}
    return seen


@check("the window of the next token is complete, the new tokens come last", points=3, of=CACHE)
def test_window_kept(impl, given):
    T, M = given.sizes("T M")
    window = M + 1
    cache, seen = impl.RollingKVCache(window=window), {}
    for number, length in enumerate((T, 1, 3, 1, window + 2, 2)):
        key, value = new_tokens(given, length)
        both = cache.update(key, value=value)
        if number:
            seen[f"update {number + 1}"] = ends_of(both, 0, window - 1 + length)
    return seen


@check("the first tokens of the text stay", points=3, of=CACHE)
def test_sinks_kept(impl, given):
    T, M = given.sizes("T M")
    seen = {}
    for name, lengths in (("sinks in one update", (T, 3, 1)), ("sinks in three updates", (1, 1, M + 3, 1, 2))):
        cache = impl.RollingKVCache(window=M, sinks=3)
        for length in lengths:
            key, value = new_tokens(given, length)
            both = cache.update(key, value=value)
        seen[name] = ends_of(both, 3, M - 1 + lengths[-1])
    return seen


@check("length counts every token of the text", points=2, of=CACHE, requires_any=STORED)
def test_length(impl, given):
    T, M = given.sizes("T M")
    cache = impl.RollingKVCache(window=M, sinks=1)
    seen, tokens = {"length of a new cache": cache.length}, 0
    for number, length in enumerate((T, 1, 2, 0, 3), 1):
        key, value = new_tokens(given, length)
        cache.update(key, value=value)
        tokens += length
        seen[f"length after update {number}, {tokens} tokens in all"] = cache.length
    return seen


def text_of(given):
    """Yield the keys and values of each update of a text, and how many tokens come before it."""
    T, past = given.size("T"), 0
    for length in (1, 1, 1, 1, 1, T, 1, 3, 2 * T, 1):
        yield *new_tokens(given, length), past
        past += length


@check("the cache holds few tokens, however long the text is", points=3, of=CACHE, requires_any=STORED, idea=True)
def test_few_held(impl, given):
    M, beyond = given.size("M"), []
    cache = impl.RollingKVCache(window=M, sinks=2)
    for key, value, _ in text_of(given):
        keys, _ = cache.update(key, value=value)
        beyond.append(max(0, keys.size(2) - key.size(2) - 2 * (M + 2)))
    return {"earlier keys in each update beyond twice window + sinks": beyond, "window": M}


@check("held is what comes before the new tokens, at most window + sinks", points=2, of=CACHE, requires_any=STORED)
def test_held(impl, given):
    M, seen = given.size("M"), {}
    for sinks in (0, 2):
        cache = impl.RollingKVCache(window=M, sinks=sinks)
        beyond, lacks, counts = 0, 0, {"keys held by a new cache": cache.held}
        for number, (key, value, past) in enumerate(text_of(given), 1):
            held, length = cache.held, key.size(2)
            key[..., 0] = given.torch.arange(past, past + length, device=given.device)
            keys, _ = cache.update(key, value=value)
            counts[f"keys returned by update {number} beyond held and new ones"] = keys.size(2) - held - length
            counts[f"keys of update {number} that are not later than the one before"] = int(
                (keys[0, 0, :, 0].diff() <= 0).sum()
            )
            beyond += max(0, cache.held - (M + sinks))
            lacks += max(0, min(cache.length, M - 1 + sinks) - cache.held)
        seen[f"{sinks} sinks"] = {
            **counts,
            "keys held beyond window + sinks, in all updates": beyond,
            "keys of window and sinks that are not held, in all updates": lacks,
        }
    return seen


@check("values may be wider than keys, and there may be one sentence and one head", points=1, of=CACHE)
def test_value_width(impl, given):
    B, G, K, F = given.sizes("B G K F")
    cache = impl.RollingKVCache(window=given.size("M"))
    for length in (1, 1):
        key, value = given.normal(B, G, length, K), given.normal(B, G, length, F)
        both = cache.update(key, value=value)
    token = impl.RollingKVCache(window=2).update(key[:1, :1], value=value[:1, :1])
    return {**ends_of(both, 0, 2), "one token of one head": ends_of(token, 0, 1)}


@check("every cache has its own store", points=1, of=CACHE)
def test_own_store(impl, given):
    M, T = given.sizes("M T")
    caches, seen = [impl.RollingKVCache(window=M), impl.RollingKVCache(window=M)], {}
    for cache in caches:
        key, value = new_tokens(given, T)
        cache.update(key, value=value)
    for name, cache in zip(("first", "second"), caches, strict=True):
        key, value = new_tokens(given, 1)
        seen[f"{name} cache"] = ends_of(cache.update(key, value=value), 0, M)
    return seen


@check("the caller's tensors are not modified", points=1, of=CACHE, requires_any=STORED, judge=SameInputs())
def test_inputs_kept(impl, given):
    T, M = given.sizes("T M")
    cache, seen = impl.RollingKVCache(window=M, sinks=1), {}
    for name, length in (("first", T), ("second", 2), ("third", 1), ("fourth", T)):
        key, value = new_tokens(given, length)
        cache.update(key, value=value)
        seen[f"key and value of the {name} update"] = [key, value]
    return {name: [both[0][..., :FEW], both[1][..., :FEW]] for name, both in seen.items()}


@check("float64, bfloat16 and float16 keep their dtype", points=1, of=CACHE)
def test_dtypes(impl, given):
    T, M = given.sizes("T M")
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        cache = impl.RollingKVCache(window=M)
        for number, length in enumerate((1, 1, T, 1)):  # with and without rows to drop
            key, value = new_tokens(given, length, dtype)
            both = cache.update(key, value=value)
            if number % 2:
                seen[f"{dtype}, update {number + 1}"] = ends_of(both, 0, min(M, number + 1))
    return seen


@check("what is stored is on the device of what came in", points=1, of=CACHE, trials=1, requires_any=STORED)
def test_device(impl, given):
    T, M = given.sizes("T M")
    pieces = [new_tokens(given, length) for length in (1, 1, T, 1)]  # with and without rows to drop
    with given.another_device() as device:
        cache = impl.RollingKVCache(window=M)
        for key, value in pieces:
            keys, values = cache.update(key.to(device), value=value.to(device))
        last = key.to(device)
        return {"keys and values": [keys[:, :, -M:, :FEW] + last[..., :FEW] * 0, values[:, :, -M:, :FEW]]}


def attended(x, matrices, mask, cache):
    """Return attention over (B, T, D) with these matrices; a cache joins the past."""
    query, key, value = ((x @ matrix).unsqueeze(1) for matrix in matrices)
    if cache is not None:
        key, value = cache.update(key, value=value)
    scores = (query @ key.mT / 2).masked_fill(~mask, -1e9)
    return x + (scores.softmax(dim=-1) @ value)[:, 0]


def banded(given, T, S, window, sinks):
    """Return the mask of the contract, so that this check judges the cache alone."""
    torch = given.torch
    distance = torch.arange(S - T, S, device=given.device).unsqueeze(1) - torch.arange(S, device=given.device)
    sunk = torch.arange(S, device=given.device) < sinks
    return (distance >= 0) & ((distance < window) | sunk)


@check("two layers of attention give the same in chunks and at once", points=3, of=CACHE, judge=Like(tolerance=1e-3))
def test_chunks(impl, given):
    B, S, K, F, M = given.sizes("B S K F M")
    text = given.normal(B, S + 3, F)
    layers = [[given.normal(F, size, scale=0.4) for size in (K, K, F)] for _ in range(2)]
    seen = {}
    for chunk, length, sinks in ((1, M + 4, 2), (3, S, 1), (7, S + 3, 0)):
        x = text[:, :length]
        caches, parts, whole = [impl.RollingKVCache(window=M, sinks=sinks) for _ in layers], [], x
        for matrices in layers:
            whole = attended(whole, matrices, banded(given, length, length, M, sinks), None)
        for start in range(0, length, chunk):
            part = x[:, start : start + chunk]
            for matrices, cache in zip(layers, caches, strict=True):
                mask = banded(given, part.size(1), cache.held + part.size(1), M, sinks)
                part = attended(part, matrices, mask, cache)
            parts.append(part)
        both = [given.torch.cat(parts, dim=1), whole]
        seen[f"output of chunks of {chunk}, and of all at once"] = [output[..., :FEW] for output in both]
        seen[f"what the caches add, chunks of {chunk}"] = (both[0] - x)[:, chunk:, :FEW]
    return seen


@picture("window 4 and 2 sinks", rows="query", columns="key")
def picture_mask(impl, given):
    return impl.sliding_window_mask(query_len=12, key_len=12, window=4, sinks=2, device=given.device), [], []


@picture("tokens returned by each update", rows="update", columns="token")
def picture_cache(impl, given):
    cache, rows = impl.RollingKVCache(window=4, sinks=2), []
    for token in range(12):
        one = given.tensor([[[[float(token)]]]])
        keys, _ = cache.update(one, value=one)
        found = {int(key) for key in keys.flatten().tolist()}
        rows.append([place in found for place in range(12)])
    return given.tensor(rows, "bool"), [f"update {number + 1}" for number in range(12)], []
