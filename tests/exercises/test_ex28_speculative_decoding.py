"""ex28: which drafted tokens are kept, and generation with a draft and a target.

The exactness needs no sampling: one check sums over every draft and every interval of the uniforms. The models compute
with whole numbers, as in ex20, so a right word proves that the target judged the right text.
"""

from itertools import pairwise, product

from autograder.checks import Like, SameInputs, check, picture

VERIFY, GENERATE = "verify_draft", "speculative_generate"
VERIFIED = ("kept", "all_kept", "residual", "exact")
GENERATED = ("undrafted", "greedy", "greedy_refused")
FIRST_WORD = 5
PRIME = 997


def shares(given, *shape, dtype="float64"):
    """Return probabilities along the last axis, none of them tiny."""
    return given.normal(*shape, dtype=dtype).softmax(dim=-1)


def round_of(given, n, dtype="float64"):
    """Return the arguments of a round with n drafted tokens, without uniforms."""
    V = given.size("V")
    drafted = given.integers(0, V, n)
    return drafted, {
        "draft_probs": shares(given, n, V, dtype=dtype),
        "target_probs": shares(given, n + 1, V, dtype=dtype),
    }


def favour(given, drafted, probs, *, refused=None):
    """Return probabilities of the target that give every drafted token much, and the refused one little."""
    factor = given.tensor([0.01 if place == refused else 50.0 for place in range(len(drafted))], str(probs.dtype)[6:])
    places = given.torch.arange(len(drafted), device=probs.device)
    raised = probs.clone()
    raised[places, drafted] *= factor
    return raised / raised.sum(dim=-1, keepdim=True)


def halves(given, n, dtype="float64"):
    return given.tensor([0.5] * n, dtype)


def refusal(impl, given, place, dtype="float64"):
    """Return the result of a round in which the token at this place is the first that is refused."""
    n = given.size("K")
    drafted, probs = round_of(given, n, dtype)
    probs["target_probs"] = favour(given, drafted, probs["target_probs"], refused=place)
    uniforms = given.tensor([0.98 if index == place else 0.02 for index in range(n)], dtype)
    return impl.verify_draft(drafted, **probs, uniforms=uniforms)


@check("token i is kept while its uniform is below p / q", points=3, of=VERIFY)
def test_kept(impl, given):
    n, counts = given.size("K"), []
    for _ in range(16):
        drafted, probs = round_of(given, n)
        probs["target_probs"] = probs["target_probs"] ** 0.5
        probs["target_probs"] = probs["target_probs"] / probs["target_probs"].sum(dim=-1, keepdim=True)
        uniforms = given.normal(n, dtype="float64").sigmoid()
        counts.append(impl.verify_draft(drafted, **probs, uniforms=uniforms)[0])
    return {f"accepted tokens of round {number}": count for number, count in enumerate(counts, 1)}


@check("if all are kept, the target's last row comes next", points=3, of=VERIFY)
def test_all_kept(impl, given):
    n = given.size("K")
    drafted, probs = round_of(given, n)
    probs["target_probs"] = favour(given, drafted, probs["target_probs"])
    accepted, next_probs = impl.verify_draft(drafted, **probs, uniforms=halves(given, n))
    return {"accepted": accepted, "next_probs": next_probs}


@check("after a refusal, the rest of p - q comes next, divided by its sum", points=3, of=VERIFY)
def test_residual(impl, given):
    n, seen = given.size("K"), {}
    for place in (0, 1, n - 1):
        accepted, next_probs = refusal(impl, given, place)
        seen[f"token {place} is refused"] = {"accepted": accepted, "next_probs": next_probs}
    return seen


def cells(p, q):
    """Return midpoints and lengths of intervals of the uniform, within which a right decision does not change."""
    edges = sorted({0.0, 0.5, min(1.0, p / q), min(1.0, q / p), 1.0})
    return [((low + high) / 2, high - low) for low, high in pairwise(edges) if high > low]


def summed(impl, given, drafts, targets):
    """Return the distribution (V, V, V) of three tokens: two are drafted, and what is missing comes from the target.

    `drafts` are (V,) and (V, V), `targets` (V,), (V, V) and (V, V, V): the last axis is the next token.
    """
    torch, V = given.torch, len(drafts[0])
    result = torch.zeros(V, V, V, dtype=torch.float64, device=given.device)
    for one, two in product(range(V), range(V)):
        q = torch.stack([drafts[0], drafts[1][one]])
        p = torch.stack([targets[0], targets[1][one], targets[2][one, two]])
        first = cells(p[0, one].item(), q[0, one].item())
        second = cells(p[1, two].item(), q[1, two].item())
        for (low, width), (high, height) in product(first, second):
            accepted, rest = impl.verify_draft(
                given.tensor([one, two], "int64"),
                draft_probs=q,
                target_probs=p,
                uniforms=given.tensor([low, high], "float64"),
            )
            weight = q[0, one] * q[1, two] * width * height
            if accepted == 0:
                result += weight * rest[:, None, None] * targets[1][:, :, None] * targets[2]
            elif accepted == 1:
                result[one] += weight * rest[:, None] * targets[2][one]
            else:
                result[one, two] += weight * rest
    return result


@check("over all drafts and draws, three tokens have the target's distribution", points=2, of=VERIFY)
def test_exact(impl, given):
    V = 3
    drafts = [shares(given, V), shares(given, V, V)]
    targets = [shares(given, V), shares(given, V, V), shares(given, V, V, V)]
    return {"probability of each text of three tokens": summed(impl, given, drafts, targets).flatten()}


@check("if nothing remains of p - q, the target's row comes next", points=1, of=VERIFY)
def test_nothing_remains(impl, given):
    n = given.size("K")
    drafted, probs = round_of(given, n)
    probs["draft_probs"] = probs["target_probs"][:-1].clone()
    probs["target_probs"][n - 2] *= 1 - 2e-7  # as rounding to float32 can do; no token has p > q then
    uniforms = given.tensor([0.5] * (n - 2) + [1 - 1e-7, 0.5], "float64")
    accepted, next_probs = impl.verify_draft(drafted, **probs, uniforms=uniforms)
    return {"accepted": accepted, "next_probs": next_probs}


@check("without a draft, the target's row comes next", points=1, of=VERIFY)
def test_no_draft(impl, given):
    drafted, probs = round_of(given, 0)
    accepted, next_probs = impl.verify_draft(drafted, **probs, uniforms=halves(given, 0))
    return {"accepted": accepted, "next_probs": next_probs}


@check("a token with probability 0 is never kept", points=1, of=VERIFY)
def test_impossible(impl, given):
    n = given.size("K")
    drafted, probs = round_of(given, n)
    target = favour(given, drafted, probs["target_probs"])
    target[1, drafted[1]] = 0.0
    target[1] /= target[1].sum()
    uniforms = given.tensor([0.5, 0.0] + [0.5] * (n - 2), "float64")
    accepted, next_probs = impl.verify_draft(
        drafted, draft_probs=probs["draft_probs"], target_probs=target, uniforms=uniforms
    )
    return {"accepted": accepted, "next_probs": next_probs}


@check("float32 and float64 keep their dtype", points=1, of=VERIFY, judge=Like())
def test_dtypes(impl, given):
    return {dtype: refusal(impl, given, 1, dtype)[1] for dtype in ("float32", "float64")}


@check("the arguments are not modified", points=1, of=VERIFY, requires_any=VERIFIED, judge=SameInputs())
def test_inputs_kept(impl, given):
    n, seen = given.size("K"), {}
    for name, refused in (("all kept", None), ("token 1 is refused", 1)):
        drafted, probs = round_of(given, n)
        probs["target_probs"] = favour(given, drafted, probs["target_probs"], refused=refused)
        inputs = {**probs, "uniforms": halves(given, n)}
        impl.verify_draft(drafted, **inputs)
        seen[name] = {"drafted": drafted, **inputs}
    return seen


# The models


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


def language_model(given, *, misses=0, logits=None):
    """Return a model of V words, and the list of its calls. With `logits` (V,), they are its output everywhere.

    Two of them write the same words, except that one with `misses` writes another word at every so many places.
    """
    torch, nn = given.torch, given.torch.nn
    V, calls = given.size("V"), []

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.context_length = 9999
            self.layers = nn.ModuleList()
            self.register_buffer("shift", torch.tensor([3]))  # as weights do, it needs ids on its own device

        def make_cache(self, max_len=None):
            return [Layer(max_len or self.context_length)]

        def forward(self, ids, cache=None):
            calls.append(ids.size(1))
            if cache is not None:
                ids = ids if cache[0].ids is None else torch.cat([cache[0].ids, ids], dim=1)
                cache[0].ids = ids
            if logits is not None:
                return logits.expand(1, calls[-1], V).clone()
            length = ids.size(1)
            places = torch.arange(length, device=ids.device)
            state = ((ids + 1) * (places + self.shift)).cumsum(dim=1) % PRIME
            words = state**2 % PRIME % (V - FIRST_WORD)
            if misses:
                words = (words + (places % misses == 0)) % (V - FIRST_WORD)
            return 5 * nn.functional.one_hot(FIRST_WORD + words, V).float()[:, -calls[-1] :]

    return Model().to(given.device).eval(), calls


def prompt_of(given, length=None):
    return given.integers(FIRST_WORD, given.size("V"), 1, length or given.size("T"))


def written(impl, given, count, drafted, *, misses=0, temperature=0.0):
    """Return the prompt, the ids and the calls of the target, for a draft that is wrong at 1 of `misses` places."""
    (target, calls), (draft, _), prompt = language_model(given), language_model(given, misses=misses), prompt_of(given)
    options = {"max_new_tokens": count, "num_drafted": drafted, "temperature": temperature}
    return prompt, impl.speculative_generate(target, draft, prompt, **options), calls


@check(
    "the target sees all drafted tokens of a round in one call",
    points=3,
    of=GENERATE,
    requires_any=GENERATED,
    idea=True,
)
def test_one_call(impl, given):
    drafted = given.number(2, 5)
    prompt, _, calls = written(impl, given, 12, drafted)
    return {
        "tokens of the prompt": prompt.size(1),
        f"tokens in the first call of the target beyond the prompt, {drafted} drafted": calls[0] - prompt.size(1),
    }


@check("without a drafted token, the text is the target's greedy text", points=2, of=GENERATE)
def test_undrafted(impl, given):
    return {"ids without a drafted token": written(impl, given, 5, 0)[1]}


@check("at temperature 0 with a perfect draft, the text is the target's greedy text", points=3, of=GENERATE)
def test_greedy(impl, given):
    prompt, ids, _ = written(impl, given, 12, 3)
    return {"ids with a perfect draft": ids, "prompt after the call": prompt}


@check("with a wrong draft, the text is the target's greedy text too", points=2, of=GENERATE)
def test_greedy_refused(impl, given):
    return {
        "ids with a good draft": written(impl, given, 12, 3, misses=4)[1],
        "ids with a useless draft": written(impl, given, 12, 3, misses=1)[1],
    }


def rounds(impl, given, *cases):
    """Observe the calls of the target and the length of the text."""
    seen = {}
    for misses, drafted, temperature in cases:
        prompt, ids, calls = written(impl, given, 12, drafted, misses=misses, temperature=temperature)
        quality = f"a draft that is wrong at 1 of {misses} positions" if misses else "a draft like the target"
        name = f"{quality}, {drafted} drafted in a round, temperature {temperature:g}"
        seen[f"calls of the target: {name}"] = len(calls)
        seen[f"new tokens: {name}"] = ids.size(1) - prompt.size(1)
    return seen


@check("the target is called once a round, and a perfect draft saves most", points=3, of=GENERATE)
def test_rounds(impl, given):
    return rounds(impl, given, (0, 3, 0.0), (0, 5, 0.0), (0, 2, 2.0)) | {"ids": written(impl, given, 2, 1)[1]}


@check("a good draft saves calls, and a useless one costs none", points=2, of=GENERATE, requires_any=GENERATED)
def test_rounds_refused(impl, given):
    return rounds(impl, given, (4, 2, 0.0), (3, 5, 0.0), (1, 3, 0.0))


@check("the text has exactly max_new_tokens more tokens", points=2, of=GENERATE, requires_any=GENERATED)
def test_lengths(impl, given):
    target, calls = language_model(given)
    draft, _ = language_model(given)

    def run(count, drafted, length=None):
        prompt = prompt_of(given, length)
        options = {"max_new_tokens": count, "num_drafted": drafted, "temperature": 0.0}
        return impl.speculative_generate(target, draft, prompt, **options).size(1) - prompt.size(1)

    return {
        "new tokens with max_new_tokens = 0": run(0, 3),
        "calls of the target for no token": len(calls),
        "new tokens with max_new_tokens = 1": run(1, 4),
        "two new tokens, seven drafted": run(2, 7),
        "three new tokens, none drafted": run(3, 0),
        "six new tokens after a prompt of one token": run(6, 2, 1),
        "length of a prompt": given.size("T"),
    }


def logits_with(given, places, probabilities, temperature):
    """Return logits (V,) that give these probabilities at this temperature."""
    logits = given.normal(given.size("V"), scale=0.0, shift=-900.0)
    return logits.scatter(0, places, given.tensor(probabilities).log() * temperature)


@check(
    "at every temperature, tokens come with the target's probabilities",
    points=2,
    of=GENERATE,
    requires_any=GENERATED,
    trials=1,
)
def test_shares(impl, given):
    # Chosen so that a wrong program moves some share by 0.2: 600 draws move it by 0.02 (one standard deviation).
    V, torch, seen = given.size("V"), given.torch, {}
    apart, near = ((0.2, 0.6, 0.2), (0.1, 0.1, 0.8)), ((0.4, 0.4, 0.2), (0.6, 0.1, 0.3))
    alike = (apart[0], apart[0])
    for pair, temperature, drafted in ((apart, 1.0, 5), (near, 4.0, 3), (alike, 1.0, 5)):
        places = given.normal(V).argsort()[:3]
        target, draft = (
            language_model(given, logits=logits_with(given, places, probabilities, temperature))[0]
            for probabilities in pair
        )
        options = {} if temperature == 1 else {"temperature": temperature}
        ids = impl.speculative_generate(target, draft, places[None, :1], 600, num_drafted=drafted, **options)
        counts = torch.nn.functional.one_hot(ids[0, 1:], V).sum(dim=0)
        both = "a draft like the target" if pair == alike else "another draft"
        seen[f"share of each token at temperature {temperature:g}, in fifths, {both}"] = (
            (counts / counts.sum() * 5).round().long()
        )
    return seen


SAME_SEED = "tokens of a seed, compared with the same seed again"


@check(
    "if there is a generator, all randomness comes from it",
    points=2,
    of=GENERATE,
    judge=Like(likeness=0.999, free=(SAME_SEED,)),
)
def test_generator(impl, given):
    torch = given.torch
    target, _ = language_model(given, logits=given.normal(given.size("V")))
    draft, _ = language_model(given, logits=given.normal(given.size("V")))
    exact, _ = language_model(given)
    prompt = prompt_of(given)

    def seeded(*models, elsewhere, drafted, temperature):
        torch.manual_seed(elsewhere)
        generator = torch.Generator(device=given.device).manual_seed(1)
        options = {"max_new_tokens": 39, "num_drafted": drafted, "temperature": temperature, "generator": generator}
        return impl.speculative_generate(*models, prompt, **options)

    drawn = [seeded(target, draft, elsewhere=seed, drafted=3, temperature=1.5) for seed in (2, 3)]
    return {
        "greedy text": seeded(exact, exact, elsewhere=1, drafted=2, temperature=0),
        SAME_SEED: [ids[:, prompt.size(1) :][:, :30] for ids in drawn],  # the length is judged by another check
    }


def text_elsewhere(impl, given, temperature, misses):
    """Return a text that was written on another device, beside the same text from the CPU."""
    (target, _), (draft, _), prompt = language_model(given), language_model(given, misses=misses), prompt_of(given)

    def run(device):
        models, options = (target.to(device), draft.to(device)), {"max_new_tokens": 12, "num_drafted": 3}
        return impl.speculative_generate(*models, prompt.to(device), **options, temperature=temperature)

    here = run("cpu")
    with given.another_device() as device:
        return {"text": [run(device), here]}


@check(
    "new tensors are on the device of the prompt",
    points=1,
    of=GENERATE,
    trials=1,
    judge=Like(),
    requires_any=GENERATED,
)
def test_device(impl, given):
    return text_elsewhere(impl, given, 0.0, 0)


@check(
    "a text that is sampled is written on the device of the prompt, too",
    points=1,
    of=GENERATE,
    trials=1,
    judge=Like(),
    requires_any=GENERATED,
)
def test_sampled_on_device(impl, given):
    return text_elsewhere(impl, given, 0.01, 3)  # all but one probability is 0, so the text does not depend on chance


@picture("draft and target together write as the target does", rows="who", columns="token")
def picture_exact(impl, given):
    target, draft = given.tensor([0.5, 0.4, 0.1], "float64"), given.tensor([0.2, 0.2, 0.6], "float64")
    both = first_token(impl, given, draft, target)
    return given.torch.stack([draft, target, both]), ["draft", "target", "together"], ["0", "1", "2"]


def first_token(impl, given, draft, target):
    """Return the distribution of one drafted token or its replacement, summed over all drafts and draws."""
    result = given.torch.zeros_like(target)
    for token in range(len(target)):
        for middle, width in cells(target[token].item(), draft[token].item()):
            accepted, rest = impl.verify_draft(
                given.tensor([token], "int64"),
                draft[None],
                given.torch.stack([target, target]),
                given.tensor([middle], "float64"),
            )
            if accepted:
                result[token] += draft[token] * width
            else:
                result += draft[token] * width * rest
    return result
