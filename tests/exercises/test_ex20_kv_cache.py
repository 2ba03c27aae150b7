"""ex20: a cache of keys and values, and generation with it.

The model here computes with whole numbers. Its next word depends on every token that it was shown, and on its
position. So a right word proves that the model was shown the right tokens, in the right order, with the right cache.
"""

from autograder.checks import Like, Raises, SameInputs, check, picture

CACHE, GENERATE = "KVCache", "generate_cached"
STORED = ("first_update", "appended", "chunks", "truncated")  # one of them passes unless nothing is computed
GENERATED = ("continued", "without_cache", "ended_rows")
FEW = 2  # features are enough if all features are stored in the same way
SHARES = (0.4, 0.3, 0.2, 0.1)
FIRST_WORD = 5  # the ids below are special in some checks
PRIME = 997


# The cache


def new_tokens(given, T, dtype="float32"):
    """Return key and value (B, G, T, K) of T tokens."""
    B, G, K = given.sizes("B G K")
    return given.normal(B, G, T, K, dtype=dtype), given.normal(B, G, T, K, dtype=dtype)


def counts_of(cache, when):
    """Observe what a cache counts, by names that say when."""
    return {f"{name} {when}": getattr(cache, name) for name in ("max_len", "length", "held")}


def few(both):
    """Return what `update` returned with few features, as a dict; what is no pair of tensors stays as it is."""
    if not isinstance(both, tuple | list) or len(both) != 2 or any(getattr(tensor, "ndim", 0) != 4 for tensor in both):
        return both
    # A cache may return views of its memory, which the next update may change.
    few_keys, few_values = both[0][..., :FEW].clone(), both[1][..., -FEW:].clone()
    return {"keys": few_keys, "values": few_values, "features of the values": both[1].shape[-1]}


@check("the first update returns what came in", points=1, of=CACHE)
def test_first_update(impl, given):
    T = given.size("T")
    key, value = new_tokens(given, T)
    return few(impl.KVCache(max_len=T + 2).update(key, value=value))


@check("update returns all keys and values so far, the new ones last", points=3, of=CACHE)
def test_appended(impl, given):
    S = given.size("S")
    cache, seen = impl.KVCache(max_len=S + 3), {}
    for T in (S - 3, 1, 2):
        key, value = new_tokens(given, T)
        seen[f"after {T} more tokens"] = few(cache.update(key, value=value))
    return seen


@check("values may be wider than keys", points=1, of=CACHE)
def test_value_width(impl, given):
    (B, G), K, T = given.sizes("B G"), given.size("K"), given.size("T")
    cache, seen = impl.KVCache(max_len=T + 2), {}
    for name, length in (("first", T), ("second", 2)):
        key, value = given.normal(B, G, length, K), given.normal(B, G, length, given.size("F"))
        seen[f"{name} update"] = few(cache.update(key, value=value))
    return seen


@check("length and held count the tokens", points=2, of=CACHE, requires_any=STORED)
def test_counted(impl, given):
    S = given.size("S")
    cache = impl.KVCache(max_len=S)
    counts = counts_of(cache, "of a new cache")
    for name, T in (("some tokens", S - 4), ("one more token", 1), ("no token", 0), ("three more tokens", 3)):
        key, value = new_tokens(given, T)
        cache.update(key, value=value)
        counts |= counts_of(cache, f"after {name}")
    return counts


@check("an update may have no token, as many as fit, or one of one head", points=1, of=CACHE)
def test_sizes(impl, given):
    T = given.size("T")
    cache, filled = impl.KVCache(max_len=T + 1), impl.KVCache(max_len=T)
    key, value = new_tokens(given, T)
    none, no_value = new_tokens(given, 0)
    first = few(cache.update(none, value=no_value))
    return {
        "no token at first": first,
        "then some": few(cache.update(key, value=value)),
        "then none": few(cache.update(none, value=no_value)),
        "as many as fit": few(filled.update(key, value=value)),
        "one token of one head": few(impl.KVCache(max_len=2).update(key[:1, :1, :1], value=value[:1, :1, :1])),
    }


def overfilled(impl, given):
    """Return a cache with T tokens, and a call that adds two more than it has room for."""
    T = given.size("T")
    cache = impl.KVCache(max_len=T + 3)
    key, value = new_tokens(given, T)
    cache.update(key, value=value)
    more, values = new_tokens(given, 5)
    return cache, lambda: cache.update(more, value=values)


@check("a token too many raises an error with max_len", points=1, of=CACHE, judge=Raises(), requires_any=STORED)
def test_refused(impl, given):
    cache, call = overfilled(impl, given)
    return given.raises(call, cache.max_len)


@check("after this error, the cache is as before", points=1, of=CACHE)
def test_refused_unchanged(impl, given):
    cache, call = overfilled(impl, given)
    given.raises(call)
    counts = {"length after the error": cache.length, "held after the error": cache.held}
    key, value = new_tokens(given, 3)
    return {**counts, "the next update": few(cache.update(key, value=value))}


@check("truncate removes the last tokens", points=2, of=CACHE)
def test_truncated(impl, given):
    T = given.size("T")
    cache, counts, fillers, seen = impl.KVCache(max_len=T + 2), {}, [], {}
    for room, kept in ((T, T - 2), (3, T + 1), (0, T), (0, 0)):
        key, value = new_tokens(given, room)
        cache.update(key, value=value)
        cache.truncate(length=kept)
        fillers.append(new_tokens(given, T + 2))  # takes memory that was freed, so that no old rows are found in it
        counts |= {f"length after truncate({kept})": cache.length, f"held after truncate({kept})": cache.held}
        key, value = new_tokens(given, 1)
        seen[f"one token after the first {kept}"] = few(cache.update(key, value=value))
        cache.truncate(length=kept)
    return {**seen, **counts}


@check("truncate refuses a length below 0", points=1, of=CACHE, judge=Raises(), requires_any=STORED)
def test_truncated_below(impl, given):
    cache, _ = overfilled(impl, given)
    return given.raises(lambda: cache.truncate(length=-1))


@check("truncate refuses a length above the present one", points=1, of=CACHE, judge=Raises(), requires_any=STORED)
def test_truncated_beyond(impl, given):
    cache, _ = overfilled(impl, given)
    return given.raises(lambda: cache.truncate(length=cache.length + 1))


@check("every cache has its own store", points=1, of=CACHE)
def test_own_store(impl, given):
    T = given.size("T")
    caches, seen = [impl.KVCache(max_len=2 * T), impl.KVCache(max_len=2 * T)], {}
    for cache in caches:
        key, value = new_tokens(given, T)
        cache.update(key, value=value)
    for name, cache in zip(("first", "second"), caches, strict=True):
        key, value = new_tokens(given, 2)
        seen[f"{name} cache"] = few(cache.update(key, value=value))
    return seen


@check("the caller's tensors are not modified", points=1, of=CACHE, requires_any=STORED, judge=SameInputs())
def test_inputs_kept(impl, given):
    T = given.size("T")
    cache, seen = impl.KVCache(max_len=2 * T + 3), {}
    for name, size, kept in (("first", T, 2), ("second", T - 3, 1), ("third", 2, 0)):
        key, value = new_tokens(given, size)
        cache.update(key, value=value)
        seen[f"key and value of the {name} update"] = [key, value]
        cache.truncate(length=kept)
    key, value = new_tokens(given, 3)
    cache.update(key, value=value)
    return {name: [both[0][..., :FEW], both[1][..., :FEW]] for name, both in seen.items()}


@check("float64, bfloat16 and float16 keep their dtype", points=1, of=CACHE)
def test_dtypes(impl, given):
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        cache = impl.KVCache(max_len=9)
        for T in (4, 1):
            key, value = new_tokens(given, T, dtype)
            seen[f"{dtype}, after {T} more tokens"] = few(cache.update(key, value=value))
    return seen


@check("what is stored is on the device of what came in", points=1, of=CACHE, trials=1, requires_any=STORED)
def test_device(impl, given):
    T = given.size("T")
    pieces = [new_tokens(given, length) for length in (T, 1)]

    def run(device):
        cache = impl.KVCache(max_len=T + 5)
        for key, value in pieces:
            keys, values = cache.update(key.to(device), value=value.to(device))
        return keys * 2 + key.to(device) * 0, values * 2

    with given.another_device() as device:
        return {"keys and values": [tensor[..., :FEW] for tensor in run(device)]}


def attended(given, x, matrices, cache):
    """Return causal attention over (B, T, D) with these matrices; a cache joins the past."""
    torch = given.torch
    query, key, value = ((x @ matrix).unsqueeze(1) for matrix in matrices)
    if cache is not None:
        key, value = cache.update(key, value=value)
    T, S = query.size(2), key.size(2)
    allowed = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
    scores = (query @ key.mT / 2).masked_fill(~allowed, -1e9)
    return x + (scores.softmax(dim=-1) @ value)[:, 0]


@check("two layers of attention give the same in chunks and at once", points=2, of=CACHE, judge=Like(tolerance=1e-3))
def test_chunks(impl, given):
    B, S, K, F = given.sizes("B S K F")
    text = given.normal(B, S, F)
    layers = [[given.normal(F, size, scale=0.4) for size in (K, K, F)] for _ in range(2)]
    seen = {}
    for chunk, length in ((1, 4), (3, 7), (7, S)):
        x, caches, parts = text[:, :length], [impl.KVCache(max_len=length) for _ in layers], []
        whole = x
        for matrices in layers:
            whole = attended(given, whole, matrices, None)
        for start in range(0, length, chunk):
            part = x[:, start : start + chunk]
            for matrices, cache in zip(layers, caches, strict=True):
                part = attended(given, part, matrices, cache)
            parts.append(part)
        both = [given.torch.cat(parts, dim=1), whole]
        seen[f"output of chunks of {chunk}, and of all at once"] = [output[..., :FEW] for output in both]
        seen[f"what the cache of layer 1 adds, chunks of {chunk}"] = (both[0] - x)[:, chunk:, :FEW]
    return seen


# The model


class Diary:
    """A record of the calls of a model: what it was shown, its mode, gradients, and the caches."""

    def __init__(self):
        self.shown, self.training, self.gradients, self.asked, self.cached = [], [], [], [], []

    def mode(self, model):
        return {
            "the model runs in train mode": any(self.training),
            "the model computes gradients": any(self.gradients),
            "the model is in train mode after the call": model.training,
        }


class Layer:
    """What a model has seen so far: the ids, for one layer. It has the names of KVCache."""

    def __init__(self, max_len):
        self.max_len, self.ids = max_len, None

    @property
    def length(self):
        return 0 if self.ids is None else self.ids.size(1)

    held = length

    def truncate(self, length):
        if self.ids is not None:
            self.ids = self.ids[:, :length]


def language_model(given, *, end=2, logits=None, context_length=99):
    """Return a model of V words with caches, in eval mode, and its diary of calls.

    The first token of a row sets how many tokens the row will have, including `end`. With `logits` (V,), these are
    its output at every position, for any input.
    """
    torch, nn = given.torch, given.torch.nn
    V, diary = given.size("V"), Diary()

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.context_length = context_length
            self.layers = nn.ModuleList()
            self.lm_head = nn.Linear(2, V, bias=False)

        def make_cache(self, max_len=None):
            diary.asked.append(max_len)
            return [Layer(max_len or context_length)]

        def forward(self, ids, cache=None):
            diary.shown.append(ids)
            diary.training.append(self.training)
            diary.gradients.append(torch.is_grad_enabled())
            diary.cached.append(cache is not None)
            if cache is not None:
                past = cache[0].ids
                ids = ids if past is None else torch.cat([past, ids], dim=1)
            length, new = ids.size(1), diary.shown[-1].size(1)
            if length > context_length:
                raise ValueError(f"{length} tokens, but context_length is {context_length}")
            if cache is not None:
                if length > cache[0].max_len:
                    raise ValueError(f"{length} tokens, but the cache was made for {cache[0].max_len}")
                cache[0].ids = ids
            if logits is not None:
                return logits.expand(ids.size(0), new, V).clone()
            places = torch.arange(length, device=ids.device)
            state = ((ids + 1) * (places + 3)).cumsum(dim=1) % PRIME + self.training
            words = FIRST_WORD + state**2 % PRIME % (V - FIRST_WORD - 2)
            words = torch.where(places + 2 == ids[:, :1], end, words)
            return nn.functional.one_hot(words % V, V).float()[:, -new:]

    return Model().to(given.device).eval(), diary


def prompt_of(given, first):
    """Return a prompt (B, T) of words. Each row begins with a different number from `first` on."""
    B, T, V = given.sizes("B T V")
    prompt = given.integers(FIRST_WORD, V - 1, B, T)
    prompt[:, 0] = first + given.torch.arange(1, B + 1, device=given.device) % B
    return prompt


@check("the prompt continues with the likeliest next token, token by token", points=4, of=GENERATE)
def test_continued(impl, given):
    model, _ = language_model(given)
    prompt = prompt_of(given, 1)
    return {
        "prompt with six new tokens": impl.generate_cached(model, prompt, max_new_tokens=6),
        "prompt after the call": prompt,
        "prompt with max_new_tokens = 0": impl.generate_cached(model, prompt, max_new_tokens=0),
        "prompt with one new token": impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=1),
        "prompt of one token with three new ones": impl.generate_cached(
            model, prompt_of(given, 1)[:1, :1], max_new_tokens=3
        ),
    }


@check(
    "a step does not show the whole text again",
    points=4,
    of=GENERATE,
    requires_any=GENERATED,
    idea=True,
)
def test_few_positions(impl, given):
    T, steps = given.size("T"), 9
    model, diary = language_model(given)
    impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=steps)
    shown = sum(ids.size(1) for ids in diary.shown)
    return {
        "tokens of the prompt": T,
        f"positions shown beyond twice the {T + steps} of the text": max(0, shown - 2 * (T + steps)),
    }


@check("the model is shown the prompt once, then every new token once", points=4, of=GENERATE, requires_any=GENERATED)
def test_shown(impl, given):
    T = given.size("T")
    model, diary = language_model(given)
    impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=5)
    shown = given.torch.cat(diary.shown, dim=1)
    return {
        "ids shown to the model, in order": shown[:, : T + 4],  # to show the last token as well is no mistake
        "positions shown more often than needed": max(0, shown.size(1) - (T + 5)),
        "calls of the model without the cache": diary.cached.count(False),
    }


@check("a new cache is made for each call, large enough", points=2, of=GENERATE)
def test_new_cache(impl, given):
    T = given.size("T")
    model, diary = language_model(given)
    first = impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=3)
    second = impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=5)
    needed = {"first": T + 2, "second": T + 4}
    lengths = [-1 if asked is None else asked for asked in diary.asked] + [0, 0]  # 0: there was no such call
    return {
        "ids of the first call": first,
        "ids of the second call": second,
        **{
            f"max_len asked of make_cache in the {name} call, at most {most}": min(asked, most)
            for asked, (name, most) in zip(lengths, needed.items(), strict=False)
        },
    }


@check("without a cache, the whole text is shown in each step", points=2, of=GENERATE)
def test_without_cache(impl, given):
    model, diary = language_model(given)
    ids = impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=4, use_cache=False)
    lengths = [text.size(1) for text in diary.shown] + 4 * [0]  # 0: there was no such step
    return {
        "ids": ids,
        **{f"tokens shown in step {step}": length for step, length in enumerate(lengths[:4], 1)},
        "calls of the model with a cache": diary.cached.count(True),
    }


@check("an ended row is padded while others continue, and the last end stops all", points=2, of=GENERATE)
def test_ended_rows(impl, given):
    B, T, V = given.sizes("B T V")
    prompt, longest = prompt_of(given, T + 2), B + 9
    usual, _ = language_model(given)
    other, _ = language_model(given, end=0)
    high, _ = language_model(given, end=V - 2)
    return {
        "ids with eos_idx = 2, pad_idx = 0": impl.generate_cached(usual, prompt, max_new_tokens=longest, eos_idx=2),
        "ids with eos_idx = 0, pad_idx = V - 1": impl.generate_cached(
            other, prompt, max_new_tokens=longest, eos_idx=0, pad_idx=V - 1
        ),
        "ids with eos_idx = 2, without a cache": impl.generate_cached(
            usual, prompt, max_new_tokens=longest, eos_idx=2, use_cache=False
        ),
        "ids with eos_idx = V - 2": impl.generate_cached(high, prompt, max_new_tokens=longest, eos_idx=V - 2),
    }


@check("only a generated eos_idx ends a row", points=1, of=GENERATE)
def test_what_ends(impl, given):
    T = given.size("T")
    prompt = prompt_of(given, T + 3)
    prompt[0, T // 2], prompt[-1, -1] = 2, 2
    model, _ = language_model(given)
    return {
        "ids after a prompt that contains eos_idx": impl.generate_cached(model, prompt, max_new_tokens=5, eos_idx=2),
        "ids without eos_idx": impl.generate_cached(model, prompt, max_new_tokens=5),
    }


SAME_SEED = "tokens of a seed, compared with the same seed again"
SAME_SEED_AND_ALL = "tokens of a seed with all arguments, compared with the same seed again"


@check(
    "temperature, top_k, top_p and the generator reach sample_next",
    points=2,
    of=GENERATE,
    judge=Like(likeness=0.999, free=(SAME_SEED, SAME_SEED_AND_ALL)),
)
def test_sampled(impl, given):
    V, torch = given.size("V"), given.torch

    def places_of(shares):
        return given.normal(V).argsort()[: len(shares)]

    def logits_with(shares, temperature=1.0, places=None):
        places = places_of(shares) if places is None else places
        return given.normal(V, scale=0.0, shift=-300.0).scatter(0, places, given.tensor(shares).log() * temperature)

    def last(logits, rows=200, **options):
        model, _ = language_model(given, logits=logits)
        prompt = given.tensor([[1, 1]], "int64").expand(rows, 2)
        return impl.generate_cached(model, prompt, max_new_tokens=2, **options)[:, -1:]

    def counted(drawn):
        return torch.nn.functional.one_hot(drawn.flatten(), V).sum(dim=0)

    def seeded(seed, elsewhere):
        torch.manual_seed(elsewhere)
        generator = torch.Generator(device=given.device).manual_seed(seed)
        return last(spread, temperature=1.0, generator=generator)

    def with_all(places, seed, top_p, elsewhere):
        """Return two new tokens in each of 200 rows, with all arguments. The likeliest token ends a row.

        Two of the `SHARES` are left. If an argument is ignored, there are more or fewer at one of two `top_p`.
        """
        torch.manual_seed(elsewhere)
        model, diary = language_model(given, logits=logits_with(SHARES, 2.0, places))
        ends, *others = places.tolist()
        padding = next(token for token in range(1, V) if token not in (ends, *others))
        generator = torch.Generator(device=given.device).manual_seed(seed)
        sampling = {"temperature": 2.0, "top_k": 3, "top_p": top_p, "generator": generator}
        rest = {"eos_idx": ends, "pad_idx": padding, "use_cache": False}
        prompt = given.tensor([[1, 1]], "int64").expand(200, 2)
        ids = impl.generate_cached(model, prompt, max_new_tokens=2, **sampling, **rest)
        return ids[:, 2:], diary.cached.count(True)

    def kinds_with_all(top_p):
        places, seed = places_of(SHARES), given.number(0, 999)
        (first, cached), (again, _) = (with_all(places, seed, top_p, elsewhere) for elsewhere in (2, 3))
        return {
            "first token": counted(first[:, :1]) > 0,
            "second token": counted(first[:, 1:]) > 0,
            "calls of the model with a cache": cached,
            SAME_SEED_AND_ALL: [first, again],
        }

    spread = given.normal(V)
    hot = counted(last(logits_with((0.6, 0.2, 0.2), 2.0), 1000, temperature=2.0))
    return {
        "share of each token at temperature 2, in fifths": (hot / hot.sum() * 5).round().long(),
        "which tokens are sampled, top_k = 2": counted(last(logits_with(SHARES), temperature=1.0, top_k=2)) > 0,
        "which tokens are sampled, top_p = 0.85": counted(last(logits_with(SHARES), temperature=1.0, top_p=0.85)) > 0,
        SAME_SEED: [seeded(1, elsewhere=2), seeded(1, elsewhere=3)],
        **{f"all arguments, top_p = {top_p}": kinds_with_all(top_p) for top_p in (0.5, 0.75)},
    }


@check("it runs in eval mode without gradients, then restores the mode", points=2, of=GENERATE)
def test_mode(impl, given):
    observed = {}
    for train in (True, False):
        model, diary = language_model(given)
        ids = impl.generate_cached(model.train(train), prompt_of(given, 1), max_new_tokens=3)
        observed[f"called in {'train' if train else 'eval'} mode"] = {"ids": ids, **diary.mode(model)}
    return observed


@check(
    "the model's error past its context_length comes through",
    points=1,
    of=GENERATE,
    judge=Raises(),
    requires_any=GENERATED,
)
def test_context(impl, given):
    T = given.size("T")
    model, _ = language_model(given, context_length=T + 3)
    return given.raises(lambda: impl.generate_cached(model, prompt_of(given, 1), max_new_tokens=8), T + 3)


@check("generation works on the device of the prompt", points=1, of=GENERATE, trials=1, requires_any=GENERATED)
def test_generated_on_device(impl, given):
    T = given.size("T")
    prompt = prompt_of(given, T + 2)
    with given.another_device() as device:
        model, _ = language_model(given)
        model = model.to(device)
        return {"ids": impl.generate_cached(model, prompt.to(device), max_new_tokens=6, eos_idx=2)}


def shown_places(impl, given, use_cache):
    """Return which position is shown in which step: (steps, positions)."""
    steps, T = 8, 5
    model, diary = language_model(given)
    impl.generate_cached(model, given.tensor([[30, 6, 7, 8, 9]], "int64"), max_new_tokens=steps, use_cache=use_cache)
    rows, seen = [], 0
    for ids in diary.shown[:steps]:
        first = seen if use_cache else 0
        seen = first + ids.size(1)
        rows.append([first <= place < seen for place in range(T + steps)])
    return given.tensor(rows, "bool"), [f"step {step}" for step in range(1, steps + 1)], []


@picture("shown to the model, with a cache", rows="step", columns="position")
def picture_with_cache(impl, given):
    return shown_places(impl, given, True)


@picture("shown to the model, without", rows="step", columns="position")
def picture_without_cache(impl, given):
    return shown_places(impl, given, False)
