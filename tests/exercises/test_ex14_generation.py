"""ex14: sampling a token, and generating with both models.

The models here have the contract's names and compute with whole numbers. The next word depends on every token they
get, on its position and on the masks. So a right word proves that all of these were right.
"""

from autograder.checks import Like, SameInputs, check, picture

SAMPLE, GENERATE, TRANSLATE, BEAM = "sample_next", "generate", "greedy_translate", "beam_search"
SHARES = (0.4, 0.3, 0.2, 0.1)
FIRST_WORD = 5  # the ids below are special in some checks
PRIME = 997


# Sampling


def logits_with(given, shares, temperature=1.0):
    """Return logits (2, V) that give these shares to some tokens and 0 to all others, and the ids of these tokens."""
    V = given.size("V")
    places = given.normal(2, V).argsort(dim=-1)[:, : len(shares)]
    scores = given.tensor(shares).log() * temperature
    logits = given.normal(2, V, scale=0.0, shift=-300.0)
    return logits.scatter(1, places, scores.expand(2, -1)) + given.normal(2, 1), places


def counted(given, drawn, logits):
    """Count how often each token was drawn for each of the rows; return (rows, V)."""
    rows, V = logits.shape
    tokens = given.torch.as_tensor(drawn).reshape(-1, rows)
    return given.torch.nn.functional.one_hot(tokens, V).sum(dim=0)


def seen(impl, given, logits, times=100, **options):
    """Observe which tokens appear in many draws per row, made in one call. A share of 0.1 needs 200 draws."""
    drawn = impl.sample_next(logits.repeat(times, 1), **options)
    return {
        "shape of the sampled tokens": list(drawn.shape),
        "which tokens are sampled": counted(given, drawn, logits) > 0,
    }


def rounded_shares(counts):
    """Observe the share of each token, rounded to multiples of 0.2, so that chance does not change it."""
    return (counts / counts.sum(dim=-1, keepdim=True) * 5).round().long()


@check("temperature 0 selects the likeliest token", points=2, of=SAMPLE)
def test_likeliest(impl, given):
    B, T, V = given.sizes("B T V")
    logits = given.normal(B * T, V)
    return {
        "tokens at temperature 0": impl.sample_next(logits, temperature=0),
        "tokens at temperature 0 with top_k and top_p": impl.sample_next(logits, temperature=0.0, top_k=3, top_p=0.5),
    }


@check("tokens are drawn with probability softmax(logits / temperature)", points=3, of=SAMPLE)
def test_temperature(impl, given):
    def share(wanted_at, **options):
        logits, _ = logits_with(given, (0.6, 0.2, 0.2), wanted_at)
        drawn = impl.sample_next(logits.repeat(1000, 1), **options)
        return {
            "shape of the sampled tokens": list(drawn.shape),
            "share of each token in 1,000 samples, in fifths": rounded_shares(counted(given, drawn, logits)),
        }

    large, _ = logits_with(given, (0.6, 0.2, 0.2))
    return {
        "temperature 1": share(1.0),
        "temperature 2": share(2.0, temperature=2.0),
        "temperature 0.5": share(0.5, temperature=0.5),
        "temperature 0.005": seen(impl, given, large + 30, temperature=0.005),
    }


@check("top_k keeps exactly the k likeliest tokens", points=3, of=SAMPLE)
def test_top_k(impl, given):
    logits, _ = logits_with(given, SHARES)
    alike, _ = logits_with(given, (0.25, 0.25, 0.25, 0.25))
    drawn = impl.sample_next(alike.repeat(60, 1), top_k=2)
    return {
        "k = 1": seen(impl, given, logits, top_k=1),
        "k = 3": seen(impl, given, logits, top_k=3),
        "k larger than V": seen(impl, given, logits, times=200, top_k=logits.size(1) + 4),
        "number of tokens sampled, k = 2 of four equal logits": (counted(given, drawn, alike) > 0).sum(dim=-1),
        "token of a single row, k = 1": impl.sample_next(logits[:1], top_k=1),
    }


@check("top_p keeps the smallest set that reaches p, with the token that crosses it", points=4, of=SAMPLE)
def test_top_p(impl, given):
    logits, _ = logits_with(given, SHARES)
    alike, _ = logits_with(given, (0.25, 0.25, 0.25, 0.25))
    drawn = impl.sample_next(alike.repeat(60, 1), top_p=0.5)
    return {
        "p = 0.55": seen(impl, given, logits, top_p=0.55),
        "p = 0.85": seen(impl, given, logits, top_p=0.85),
        "p = 0.25": seen(impl, given, logits, top_p=0.25),
        "p = 0": seen(impl, given, logits, top_p=0.0),
        "p = 1": seen(impl, given, logits, times=200, top_p=1.0),
        "number of tokens sampled, p = 0.5 of four equal logits": (counted(given, drawn, alike) > 0).sum(dim=-1),
    }


@check("the temperature acts first, then top_k, then top_p on the tokens left", points=2, of=SAMPLE)
def test_order(impl, given):
    logits, _ = logits_with(given, SHARES)
    hot, _ = logits_with(given, SHARES, 2.0)
    all_hot, _ = logits_with(given, SHARES, 2.0)
    return {
        "top_k, then top_p": seen(impl, given, logits, top_k=2, top_p=0.5),
        "top_p leaves fewer": seen(impl, given, logits, top_k=3, top_p=0.3),
        "temperature, then top_p": seen(impl, given, hot, temperature=2.0, top_p=0.5),
        **{
            f"all arguments, top_p = {top_p}": seen(impl, given, all_hot, **all_of(given, top_p))
            for top_p in (0.5, 0.75)
        },
    }


def all_of(given, top_p):
    """Return every argument of sampling at once: two of the `SHARES` at temperature 2 are left.

    If another one is ignored, there are more or fewer, at one of the shares 0.5 and 0.75.
    """
    generator = given.torch.Generator(device=given.device).manual_seed(given.number(0, 999))
    return {"temperature": 2.0, "top_k": 3, "top_p": top_p, "generator": generator}


def from_the_generator(yours, expected):
    """Report tokens that do not come from the generator, if there are any."""
    may_come = expected["tokens that may come"]
    draws = {name: value for name, value in yours.items() if name != "tokens that may come"}
    for name, tokens in draws.items():
        if getattr(tokens, "shape", None) != may_come.shape[:1]:
            return f"{name}: expected {len(may_come)} tokens, one per row"
        if not (tokens[:, None] == may_come).any(axis=1).all():
            return f"{name}: it contains a token with probability 0"

    def alike(one, other):
        return bool((draws[one] == draws[other]).all())

    for draw in ("first draw", "next draw"):
        if not alike(f"seed 1, {draw}", f"seed 1 again, {draw}"):
            return f"{draw}: the same generator seed gives different tokens"
    if alike("seed 1 again, first draw", "seed 4, first draw"):
        return "a different generator seed gives the same tokens"
    if alike("seed 1, first draw", "seed 1, next draw"):
        return "the next draw from the same generator gives the same tokens"
    if alike("no generator", "no generator, again"):
        return "without a generator, two draws give the same tokens"
    return None


@check("if there is a generator, all randomness comes from it", points=2, of=SAMPLE, judge=from_the_generator)
def test_repeatable(impl, given):
    V = given.size("V")
    places = given.normal(40, V).argsort(dim=-1)[:, :4]
    logits = given.normal(40, V, scale=0.0, shift=-300.0).scatter(1, places, 0.0)

    def three(seed, elsewhere):
        given.torch.manual_seed(elsewhere)
        generator = given.torch.Generator(device=given.device).manual_seed(seed)
        drawn = [impl.sample_next(logits, 2.0, top_k=20, top_p=0.99, generator=generator) for _ in range(2)]
        return [*drawn, impl.sample_next(logits)]

    first, again, other = three(1, elsewhere=2), three(1, elsewhere=3), three(4, elsewhere=3)
    return {
        "tokens that may come": places,
        "seed 1, first draw": first[0],
        "seed 1 again, first draw": again[0],
        "seed 1, next draw": first[1],
        "seed 1 again, next draw": again[1],
        "seed 4, first draw": other[0],
        "no generator": first[2],
        "no generator, again": again[2],
    }


@check("the logits are not modified", points=1, of=SAMPLE, requires_any=("likeliest",), judge=SameInputs())
def test_logits_kept(impl, given):
    B, V = given.sizes("B V")
    logits = given.normal(B, V)
    impl.sample_next(logits, temperature=0)
    impl.sample_next(logits, temperature=2.0)
    impl.sample_next(logits, top_k=3)
    impl.sample_next(logits, temperature=2.0, top_k=4, top_p=0.5)
    return {"logits": logits}


# The models


def mixed(values, mask):
    """Return for every position the sum of the numbers (B, S) that the mask lets it see, or of all without a mask."""
    if mask is None:
        return values.sum(dim=-1, keepdim=True) % PRIME
    mask = mask[:, 0] if mask.dim() == 4 else mask
    return (values.unsqueeze(-2) * mask).sum(dim=-1) % PRIME


def numbered(given, ids, seq_len):
    """Return the tokens (B, T) as numbers that depend on their positions. Raise ValueError if T is above seq_len."""
    if ids.size(1) > seq_len:
        raise ValueError(f"{ids.size(1)} positions, but the table has {seq_len}")
    return (ids + 1) * given.torch.arange(3, 3 + ids.size(1), device=ids.device)


def scores_of(given, words, count):
    """Return logits (..., count) that make each of the words the likeliest by a small margin."""
    return given.torch.nn.functional.one_hot(words % count, count).float()


def positions(given, seq_len):
    part = given.torch.nn.Module()
    part.register_buffer("pe", given.torch.zeros(1, seq_len, 2))
    return part


class Diary:
    """A record of the calls of a model: its mode, gradients, and the number of sources it encoded."""

    def __init__(self):
        self.training, self.gradients, self.sources = [], [], 0

    def note(self, given, model):
        self.training.append(model.training)
        self.gradients.append(given.torch.is_grad_enabled())

    def seen(self, model):
        return {
            "the model runs in train mode": any(self.training),
            "the model computes gradients": any(self.gradients),
            "the model is in train mode after the call": model.training,
        }


def language_model(given, seq_len, *, end=2, logits=None):
    """Return a LanguageModel of V words, in eval mode, and its diary of calls.

    The first token of a row sets how many tokens the row will have, including `end`. With `logits` (V,), these are
    its output at every position, for any input.
    """
    torch, nn = given.torch, given.torch.nn
    V, diary = given.size("V"), Diary()

    class LanguageModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Module()
            self.embedding.embedding = nn.Embedding(V, 2)
            self.positional_encoding = positions(given, seq_len)
            self.layers = nn.ModuleList()
            self.output_projection = nn.Linear(2, V)

        def forward(self, ids, mask=None):
            diary.note(given, self)
            values = numbered(given, ids, seq_len)
            if logits is not None:
                return logits.expand(*ids.shape, V).clone()
            T = ids.size(1)
            causal = torch.ones(T, T, dtype=torch.bool, device=ids.device).tril()
            state = mixed(values, causal if mask is None else causal & mask) + self.training
            words = FIRST_WORD + state**2 % PRIME % (V - FIRST_WORD - 2)
            places = torch.arange(T, device=ids.device)
            return scores_of(given, torch.where(places + 2 == ids[:, :1], end, words), V)

    return LanguageModel().to(given.device).eval(), diary


def transformer(given, seq_len, *, end=2, pad=0, table=None, zeros=0):
    """Return a Transformer from V words to W, in eval mode, and its diary of calls.

    The first word of a source sets how many words its translation has before `end`. The more `zeros`, the more of them
    are the word 0. With `table` (W, W), the output is its row of the last word, for any other input.
    """
    torch, nn = given.torch, given.torch.nn
    (V, W), diary = given.sizes("V W"), Diary()
    known = torch.tensor([0] * zeros + list(range(FIRST_WORD, W)), device=given.device)

    class Part(nn.Module):
        def __init__(self, words):
            super().__init__()
            self.embedding = nn.Module()
            self.embedding.embedding = nn.Embedding(words, 2)
            self.positional_encoding = positions(given, seq_len)

    class Encoder(Part):
        def forward(self, ids, mask=None):
            diary.note(given, self)
            diary.sources += ids.size(0)
            values = numbered(given, ids, seq_len)
            state = (values + mixed(values, mask) + self.training) % PRIME
            return torch.stack([state, ids[:, :1].expand_as(ids)], dim=-1).float()

    class Decoder(Part):
        def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
            diary.note(given, self)
            first = mixed(numbered(given, ids, seq_len), tgt_mask).expand_as(ids)
            second = first + mixed(first * first, tgt_mask)
            source, lengths = encoder_output.long().unbind(dim=-1)
            state = second * (mixed(source, src_mask) + 1) + self.training
            words = known.to(state.device)[state % PRIME % len(known)]
            places = torch.arange(ids.size(1), device=ids.device)
            answer = scores_of(given, torch.where(places == lengths[:, :1], end, words), W)
            answer = (answer if table is None else table[ids]).roll(1, dims=-1)
            unused = answer.amin(dim=-1, keepdim=True).expand_as(answer)
            return torch.cat([answer, unused], dim=-1)  # there are more features than words

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = Encoder(V), Decoder(W)
            self.output_projection = nn.Linear(2 * W, W)
            with torch.no_grad():
                self.output_projection.weight.zero_()[:, :W].copy_(torch.eye(W).roll(1, dims=1))
                self.output_projection.bias.zero_()

        def forward(self, src, tgt, src_mask=None, tgt_mask=None):
            T = tgt.size(1)
            causal = torch.ones(T, T, dtype=torch.bool, device=tgt.device).tril()
            src_mask = (src != pad)[:, None, None, :] if src_mask is None else src_mask
            tgt_mask = (tgt != pad)[:, None, None, :] & causal if tgt_mask is None else tgt_mask
            return self.output_projection(self.decoder(tgt, self.encoder(src, src_mask), src_mask, tgt_mask))

        def forward_with_softmax(self, *inputs, **masks):
            return self(*inputs, **masks).softmax(dim=-1)

    model = Transformer().to(given.device, torch.float32 if table is None else table.dtype)
    return model.eval(), diary


def numbered_rows(given, rows, first):
    """Return first + 1, first + 2, ..., and `first` for the last row, so that the numbers are not sorted."""
    return first + given.torch.arange(1, rows + 1, device=given.device) % rows


def prompt_of(given, first):
    """Return a prompt (B, T) of words. Each row begins with a different number from `first` on."""
    B, T, V = given.sizes("B T V")
    prompt = given.integers(FIRST_WORD, V - 1, B, T)
    prompt[:, 0] = numbered_rows(given, B, first)
    return prompt


def sources_of(given, first):
    """Return sources (B, S) without padding. Each row begins with a different number from `first` on."""
    B, S, V = given.sizes("B S V")
    src = given.integers(FIRST_WORD, V, B, S)
    src[:, 0] = numbered_rows(given, B, first)
    return src


# The language model


@check("the prompt continues with the likeliest next token, token by token", points=3, of=GENERATE)
def test_continued(impl, given):
    T = given.size("T")
    model, _ = language_model(given, 3 * T)
    prompt = prompt_of(given, 1)
    return {
        "prompt with six new tokens": impl.generate(model, prompt, 6),
        "prompt after the call": prompt,
        "prompt with max_new_tokens = 0": impl.generate(model, prompt, 0),
        "prompt with one new token": impl.generate(model, prompt_of(given, 1), max_new_tokens=1),
        "prompt of one token with three new ones": impl.generate(model, prompt_of(given, 1)[:1, :1], 3),
    }


@check("the model gets only the last seq_len tokens", points=3, of=GENERATE)
def test_window(impl, given):
    T = given.size("T")
    return {
        "text that becomes longer than seq_len": impl.generate(language_model(given, T + 2)[0], prompt_of(given, 1), 6),
        "text of a prompt longer than seq_len": impl.generate(language_model(given, T - 2)[0], prompt_of(given, 1), 4),
    }


@check("an ended row is padded while others continue, and the last end stops all", points=3, of=GENERATE)
def test_ended_rows(impl, given):
    B, T, V = given.sizes("B T V")
    prompt, longest = prompt_of(given, T + 2), B + 9
    usual, _ = language_model(given, T + longest)
    other, _ = language_model(given, T + longest, end=0)
    high, _ = language_model(given, T + longest, end=V - 2)
    return {
        "ids with eos_idx = 2, pad_idx = 0": impl.generate(usual, prompt, longest, eos_idx=2),
        "ids with eos_idx = 0, pad_idx = V - 1": impl.generate(other, prompt, longest, eos_idx=0, pad_idx=V - 1),
        "ids with eos_idx = V - 2": impl.generate(high, prompt, longest, eos_idx=V - 2),
    }


@check("only a generated eos_idx ends a row", points=2, of=GENERATE)
def test_what_ends(impl, given):
    T = given.size("T")
    prompt = prompt_of(given, T + 3)
    prompt[0, T // 2], prompt[-1, -1] = 2, 2
    model, _ = language_model(given, 3 * T)
    return {
        "ids after a prompt that contains eos_idx": impl.generate(model, prompt, 5, eos_idx=2),
        "ids without eos_idx": impl.generate(model, prompt, 5),
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
    T, V = given.sizes("T V")

    def last(logits, rows=200, **options):
        model, _ = language_model(given, 2 * T, logits=logits[0])
        return impl.generate(model, given.tensor([[1] * T], "int64").expand(rows, T), 1, **options)[:, -1:]

    def kinds(**options):
        logits, _ = logits_with(given, SHARES)
        return counted(given, last(logits, **options), logits[:1]) > 0

    def seeded(seed, elsewhere):
        given.torch.manual_seed(elsewhere)
        generator = given.torch.Generator(device=given.device).manual_seed(seed)
        return last(spread, temperature=1.0, generator=generator)

    def with_all(generator, top_p, logits, places):
        """Return 200 rows of two new tokens, drawn with all arguments. The likeliest token ends a row."""
        model, _ = language_model(given, 2 * T, logits=logits[0])
        pad_idx = next(token for token in range(1, V) if token not in places)
        prompt = given.tensor([[1] * T], "int64").expand(200, T)
        options = {**all_of(given, top_p), "generator": generator, "eos_idx": places[0], "pad_idx": pad_idx}
        return impl.generate(model, prompt, 2, **options)[:, T:]

    def kinds_with_all(top_p):
        logits, places = logits_with(given, SHARES, 2.0)
        places, seed, drawn = places[0].tolist(), given.number(0, 999), []
        for elsewhere in (2, 3):
            given.torch.manual_seed(elsewhere)
            generator = given.torch.Generator(device=given.device).manual_seed(seed)
            drawn.append(with_all(generator, top_p, logits, places))
        kinds = [counted(given, drawn[0][:, column : column + 1], logits[:1]) > 0 for column in (0, 1)]
        return {"first token": kinds[0], "second token": kinds[1], SAME_SEED_AND_ALL: drawn}

    spread = given.normal(1, V)
    hot, _ = logits_with(given, (0.6, 0.2, 0.2), 2.0)
    drawn = last(hot, 1000, temperature=2.0)
    return {
        "share of each token at temperature 2, in fifths": rounded_shares(counted(given, drawn, hot[:1])),
        "which tokens are sampled, top_k = 2": kinds(temperature=1.0, top_k=2),
        "which tokens are sampled, top_p = 0.85": kinds(temperature=1.0, top_p=0.85),
        SAME_SEED: [seeded(1, elsewhere=2), seeded(1, elsewhere=3)],
        **{f"all arguments, top_p = {top_p}": kinds_with_all(top_p) for top_p in (0.5, 0.75)},
    }


@check("it runs in eval mode without gradients, then restores the mode", points=2, of=GENERATE)
def test_mode(impl, given):
    T = given.size("T")
    observed = {}
    for train in (True, False):
        model, diary = language_model(given, 2 * T)
        ids = impl.generate(model.train(train), prompt_of(given, 1), 3)
        observed[f"called in {'train' if train else 'eval'} mode"] = {"ids": ids, **diary.seen(model)}
    return observed


# The Transformer


@check("a translation starts with <SOS> and adds the likeliest word, up to max_len", points=3, of=TRANSLATE)
def test_translated(impl, given):
    src = sources_of(given, 19)
    S, W = given.sizes("S W")
    model, _ = transformer(given, 2 * S)
    return {
        "translation of max_len ids": impl.greedy_translate(model, src, S + 2),
        "source after the call": src,
        "translation with max_len = 1": impl.greedy_translate(model, src, 1),
        "translation with another sos_idx": impl.greedy_translate(model, src, max_len=4, sos_idx=W - 1),
        "translation of one word": impl.greedy_translate(model, src[:1, :1], 4),
    }


@check("an ended translation is padded while others continue", points=2, of=TRANSLATE)
def test_ended_translations(impl, given):
    src = sources_of(given, FIRST_WORD)
    longest = FIRST_WORD + given.size("B") + 4
    usual, _ = transformer(given, 2 * longest)
    other, _ = transformer(given, 2 * longest, end=0, pad=3)
    return {
        "translation with eos_idx = 2, pad_idx = 0": impl.greedy_translate(usual, src, longest),
        "translation with eos_idx = 0, pad_idx = 3": impl.greedy_translate(other, src, longest, eos_idx=0, pad_idx=3),
    }


@check("padding is hidden from encoder and decoder, whatever its id", points=3, of=TRANSLATE)
def test_padding(impl, given):
    B, S, W = given.sizes("B S W")
    usual, _ = transformer(given, 3 * S)
    other, _ = transformer(given, 3 * S, pad=4, zeros=9)
    all_others, _ = transformer(given, 3 * S, end=3, pad=4)

    def padded(pad):
        src = sources_of(given, 19)
        for row in range(B):
            src[row, max(1, S - 1 - row) :] = pad  # a source of padding alone has no right translation
        return src

    zeros_are_words = padded(4)
    zeros_are_words[:, 1] = 0
    return {
        "translation with pad_idx = 0": impl.greedy_translate(usual, padded(0), S + 3),
        "translation with pad_idx = 4": impl.greedy_translate(other, zeros_are_words, 2 * S, pad_idx=4),
        "translation with other ids": impl.greedy_translate(all_others, padded(4), 3 * S, W - 1, 3, 4),
    }


@check("each source is encoded once", points=1, of=TRANSLATE)
def test_encoded_once(impl, given):
    S = given.size("S")
    model, diary = transformer(given, 2 * S)
    ids = impl.greedy_translate(model, sources_of(given, 19), S)
    return {"number of sources that are encoded": diary.sources, "ids": ids}


@check("it translates in eval mode without gradients, then restores the mode", points=2, of=TRANSLATE)
def test_mode_of_translation(impl, given):
    S = given.size("S")
    observed = {}
    for train in (True, False):
        model, diary = transformer(given, 2 * S)
        ids = impl.greedy_translate(model.train(train), sources_of(given, 19), 4)
        observed[f"called in {'train' if train else 'eval'} mode"] = {"ids": ids, **diary.seen(model)}
    return observed


# All functions except beam search


ON_THE_DEVICE = Like(free=("generated", "translated"))  # other checks judge their values


@check("new tensors are on the device of the input", points=1, trials=1, judge=ON_THE_DEVICE)
def test_device(impl, given):
    B, T, S, V = given.sizes("B T S V")
    logits, prompt, src = given.normal(B * T, V), prompt_of(given, T + 2), sources_of(given, FIRST_WORD)
    src[0, -1] = 0
    (language, _), (translator, _) = language_model(given, 3 * T), transformer(given, 3 * S)

    def run(device):
        prompts, sources, scores = prompt.to(device), src.to(device), logits.to(device)
        return {
            "sampled": impl.sample_next(scores, top_k=1, top_p=0.5),  # with one token there is no choice
            "generated": impl.generate(language.to(device), prompts, B + 3, eos_idx=2),
            "translated": impl.greedy_translate(translator.to(device), sources, S + 3),
        }

    here = run("cpu")
    with given.another_device() as device:
        return {name: [there, here[name]] for name, there in run(device).items()}


# Beam search


def tree_of_words(given, sos=1, eos=2):
    """Return a table (W, W) of logits for the lesson's example: for each word, a score for each next word."""
    W = given.size("W")
    a, b, c, d = (3 + given.normal(W - 3).argsort()[:4]).tolist()
    following = {
        sos: {a: 0.55, b: 0.45},
        eos: {c: 1.0},  # going on after <EOS> costs nothing, so that this mistake shows
        a: {c: 0.40, d: 0.35, eos: 0.25},
        b: {d: 0.40, eos: 0.60},
        c: {a: 0.20, b: 0.20, d: 0.20, eos: 0.40},
        d: {c: 0.05, eos: 0.95},
    }
    table = given.normal(W, W, scale=0.0, shift=-60.0)
    for word, shares in following.items():
        for next_word, share in shares.items():
            table[word, next_word] = given.tensor(share).log()
    return table + given.normal(W, 1)  # so that logits are not log-probabilities


@check("a beam of one finds the result of greedy search, on any device", points=1, of=BEAM, bonus=True)
def test_beam_of_one(impl, given):
    S, W = given.sizes("S W")
    model, _ = transformer(given, 3 * S)
    other, _ = transformer(given, 3 * S, end=W // 2)
    src = sources_of(given, FIRST_WORD)[:1]
    tree, _ = transformer(given, 2 * S, table=tree_of_words(given))
    seen = {
        "translation up to <EOS>": impl.beam_search(model, src, 1, 2 * S)[0],
        "translation cut at max_len": impl.beam_search(model, src, beam_size=1, max_len=4)[0],
        "translation with other ids": impl.beam_search(other, src, 1, 2 * S, sos_idx=W - 1, eos_idx=W // 2)[0],
        "where a wider beam finds another": impl.beam_search(tree, src, 1, 5)[0],
    }
    with given.another_device() as device:
        return {**seen, "on another device": impl.beam_search(model.to(device), src.to(device), 1, 2 * S)[0]}


@check("a beam as wide as the tree finds the hypothesis with the best score", points=2, of=BEAM, bonus=True)
def test_beam_of_all(impl, given):
    model, _ = transformer(given, 2 * given.size("S"), table=tree_of_words(given))
    exchanged, _ = transformer(given, 2 * given.size("S"), table=tree_of_words(given, sos=2, eos=1))
    src = sources_of(given, FIRST_WORD)[:1]

    def search(max_len=5, model=model, **options):
        ids, score = impl.beam_search(model, src, beam_size=40, max_len=max_len, **options)
        return {"ids": ids, "score": float(score)}

    return {
        "beam of 40": search(),
        "beam of 40 without a length penalty": search(length_penalty=0.0),
        "beam of 40 with a length penalty of 3": search(length_penalty=3.0),
        "beam of 40 with a length penalty of 3 and max_len 3": search(3, length_penalty=3.0),
        "beam of 40 with a length penalty of 3 and other ids": search(
            model=exchanged, length_penalty=3.0, sos_idx=2, eos_idx=1
        ),
    }


SHARES_BY_WORD = {"the": 0.4, "a": 0.25, "my": 0.15, "his": 0.1, "our": 0.06, "no": 0.04}
SETTINGS = {
    "T = 0": {"temperature": 0.0},
    "T = 0.5": {"temperature": 0.5},
    "T = 1": {},
    "T = 2": {"temperature": 2.0},
    "top_k = 2": {"top_k": 2},
    "top_p = 0.7": {"top_p": 0.7},
}


@picture("how often each word comes in 1,000 draws (T is the temperature)", rows="setting", columns="word")
def picture_draws(impl, given):
    V = len(SHARES_BY_WORD)
    logits = given.tensor(list(SHARES_BY_WORD.values())).log().expand(1000, V)
    counts = [given.torch.bincount(impl.sample_next(logits, **setting), minlength=V) for setting in SETTINGS.values()]
    return given.torch.stack(counts) / 1000, list(SETTINGS), list(SHARES_BY_WORD)
