"""ex12: words to ids, ids to batches, batches to inputs and labels."""

from autograder.checks import Like, SameInputs, check, picture

SPECIAL = {"<PAD>": 0, "<SOS>": 1, "<EOS>": 2, "<UNK>": 3}
PAD, SOS, EOS, UNK = SPECIAL.values()
WORDS = (
    "the",
    "cat",
    "dog",
    "bird",
    "saw",
    "slept",
    "under",
    "over",
    "near",
    "an",
    "old",
    "new",
    "house",
    "tree",
    "and",
)


def shuffled(given):
    """Return N words in random order. The last is the first word again, with a capital letter."""
    words, order = list(WORDS), []
    while len(order) < given.size("N") - 1:
        order.append(words.pop(given.number(0, len(words))))
    return [*order, order[0].title()]


def sentences_of(words):
    """Return sentences in which the words first appear in their order. The last but one is the most frequent."""
    return [words[:4], [*words[2:6], words[0]], [*words[4:], words[-2], words[-2], words[-2]]]


def vocabulary(given):
    """Return the words of a vocabulary, and their ids after those of the special tokens."""
    words = shuffled(given)
    return words, {token: i for i, token in enumerate([*SPECIAL, *words])}


def some_of(given, words, count):
    """Return `count` words, chosen at random."""
    return [words[given.number(0, len(words))] for _ in range(count)]


def sequences(given, pad_idx=PAD):
    """Return sequences of B lengths, the longest neither first nor last, without `pad_idx` in them."""
    B, T, V = given.sizes("B T V")
    lengths = [T - 2 - row for row in range(B)]
    return [[int(i) for i in given.integers(pad_idx + 1, V, length)] for length in (*lengths, T, T - 1)]


@check("words get ids from 4 on, in order of first appearance", points=2, of="build_vocab")
def test_words(impl, given):
    words = shuffled(given)
    vocab = impl.build_vocab(sentences_of(words))
    return {
        "tokens in the vocabulary": len(vocab),
        "id in the vocabulary": {word: vocab.get(word) for word in words},
    }


@check(
    "<PAD>, <SOS>, <EOS> and <UNK> are 0, 1, 2 and 3",
    points=1,
    of="build_vocab",
    requires_any=("words", "own_words", "encoded"),  # the ids alone can be known without a vocabulary
)
def test_special_tokens(impl, given):
    word = f"word-{given.number(1000, 9999)}"  # unknown to a program that builds no vocabulary
    vocab = impl.build_vocab([*sentences_of(shuffled(given)), [word]])
    return {
        **{f"id of {token}": vocab.get(token) for token in SPECIAL},
        "a word is in the vocabulary too": word in vocab,
    }


@check("a vocabulary contains only the words of its own sentences", points=1, of="build_vocab")
def test_own_words(impl, given):
    words = shuffled(given)
    both = given.number(2, len(words) - 2)
    first, second = impl.build_vocab([words[: both + 1]]), impl.build_vocab([words[both:]])
    return {
        "tokens in the first vocabulary": len(first),
        "tokens in the second vocabulary": len(second),
        "words of the first vocabulary in the second": [word for word in words[: both + 1] if word in second],
    }


@check("a sentence becomes its ids between <SOS> and <EOS>", points=2, of="encode")
def test_encoded(impl, given):
    words, vocab = vocabulary(given)
    return {
        "ids of a sentence": impl.encode([*some_of(given, words, 7), words[-1]], vocab),
        "ids of a single word": impl.encode(some_of(given, words, 1), vocab),
        "ids of no words": impl.encode([], vocab),
    }


@check("an unknown word becomes <UNK>, and the vocabulary does not grow", points=1, of="encode")
def test_unknown(impl, given):
    words, vocab = vocabulary(given)
    known = some_of(given, words, 4)
    tokens = [*known[:2], "unheard-of", known[2], "strange", "unheard-of", known[3]]
    return {"ids": impl.encode(tokens, vocab), "tokens in the vocabulary afterwards": len(vocab)}


@check("ids become words, without special tokens except <UNK>", points=2, of="decode")
def test_decoded(impl, given):
    words, vocab = vocabulary(given)
    ids = [vocab[word] for word in words]
    return {
        "words of a sentence": impl.decode([SOS, *ids[2:7], EOS], vocab),
        "words with <UNK>": impl.decode([SOS, ids[4], UNK, ids[1], UNK, EOS], vocab),
        "words around <PAD>": impl.decode([PAD, SOS, ids[3], PAD, ids[0], EOS], vocab),
    }


@check("reading stops at the first <EOS>, or at the end if there is none", points=2, of="decode")
def test_end(impl, given):
    words, vocab = vocabulary(given)
    ids = [vocab[word] for word in words]
    return {
        "words of ids with padding after <EOS>": impl.decode((SOS, *ids[:3], EOS, PAD, PAD), vocab),
        "words of ids with other ids after <EOS>": impl.decode([SOS, *ids[:3], EOS, *ids[3:5], EOS, ids[5]], vocab),
        "words of ids without <EOS>": impl.decode(ids[1:6], vocab),
        "words of <SOS> and <EOS>": impl.decode([SOS, EOS], vocab),
    }


@check("shorter sequences are padded on the right to the longest length", points=3, of="pad_batch")
def test_padded(impl, given):
    return {
        "batch": impl.pad_batch(sequences(given)),
        "batch of one sequence": impl.pad_batch([[SOS, 5, 6, EOS]]),
        "batch of sequences of one id": impl.pad_batch([[5], [6]]),
        "batch with an empty sequence": impl.pad_batch([[], [SOS, EOS]]),
        "dtype of a batch of empty sequences": impl.pad_batch([[], []]).dtype,
    }


@check("padding uses the pad_idx argument", points=1, of="pad_batch")
def test_pad_idx(impl, given):
    pad_idx = given.number(4, 9)
    batch = sequences(given, pad_idx)
    return {
        "batch with pad_idx by name": impl.pad_batch(batch, pad_idx=pad_idx),
        "batch with pad_idx by position": impl.pad_batch(batch, pad_idx),
    }


@check("the input is all but the last token, the labels all but the first", points=3, of="teacher_forcing")
def test_shifted(impl, given):
    B, T, V = given.sizes("B T V")
    tgt = given.integers(4, V, B, T)
    tgt[:, 0] = SOS
    for row, length in enumerate(range(T, T - B, -1)):
        tgt[row, length - 1] = EOS
        tgt[row, length:] = PAD
    decoder_input, labels = impl.teacher_forcing(tgt)
    return {"decoder input": decoder_input, "labels": labels}


PADDING = 99  # an id that no word has
ON_THE_DEVICE = Like(likeness=0.99, free=("decoder input", "labels"))  # another check judges the shift


@check("the batch is on the given device, and the shift keeps device and axes", points=1, judge=ON_THE_DEVICE)
def test_device(impl, given):
    batch, tgt = sequences(given), given.integers(0, given.size("V"), *given.sizes("B T"))

    def run(device):
        decoder_input, labels = impl.teacher_forcing(tgt.to(device))
        padded = impl.pad_batch(batch, PADDING, device)
        return {
            "batch": impl.pad_batch(batch, device=device),
            f"batch with padding {PADDING}": padded,
            "decoder input": decoder_input,
            "labels": labels,
        }

    here = run("cpu")  # a tensor kept from this call must not be used on the other device
    shifted = impl.teacher_forcing(tgt[:1, :2])
    seen = {
        f"{name} of one sentence of two tokens, set to 0": given.torch.zeros_like(tensor)
        for name, tensor in zip(("decoder input", "labels"), shifted, strict=True)
    }
    with given.another_device() as device:
        return {**seen, **{name: [there, here[name]] for name, there in run(device).items()}}


@check("the inputs are not modified", points=1, requires_any=("words", "encoded"), judge=SameInputs())
def test_inputs_kept(impl, given):
    words, vocab = vocabulary(given)
    text, tokens, batch = sentences_of(words), words[:5], sequences(given)
    ids, tgt = [SOS, *range(4, 8), EOS, PAD], given.integers(0, 9, 3, 6)
    impl.build_vocab(text)
    impl.encode(tokens, vocab)
    impl.decode(ids, vocab)
    impl.pad_batch(batch)
    impl.teacher_forcing(tgt)
    return {"sentences": text, "tokens": tokens, "ids": ids, "sequences": batch, "targets": tgt, "vocabulary": vocab}


SENTENCES = [
    ["the", "cat", "sleeps"],
    ["a", "dog", "saw", "the", "cat"],
    ["birds", "sing"],
    ["my", "dog", "saw", "birds"],
]


def batch_of_sentences(impl, given):
    """Return the ids (B, longest) of the sentences."""
    vocab = impl.build_vocab(SENTENCES)
    return impl.pad_batch([impl.encode(words, vocab) for words in SENTENCES], device=given.device)


@picture("one batch of ids: 0 is padding", rows="sentence", columns="position")
def picture_batch(impl, given):
    return batch_of_sentences(impl, given), [" ".join(words) for words in SENTENCES], []


@picture("teacher forcing: labels one ahead", columns="position")
def picture_shift(impl, given):
    inputs, labels = impl.teacher_forcing(batch_of_sentences(impl, given)[:2])
    pairs = given.torch.stack([inputs, labels], dim=1).flatten(0, 1)
    return pairs, [f"{kind} {row}" for row in (1, 2) for kind in ("input", "label")], []
