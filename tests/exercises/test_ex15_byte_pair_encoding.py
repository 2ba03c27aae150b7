"""ex15: training of merges, and a tokenizer that applies them."""

from autograder.checks import Raises, check, picture

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIGNS = (",", ".", "!", "?", ":", "-", "_", "...")
ENDINGS = ("'s", "'ll", "'t", "'re")
BROAD = ("é", "ü", "ñ", "ø", "я", "ж", "日", "本", "€", "😀", "🦆")


def some_letters(given, count):
    """Return so many different letters, in order of the alphabet."""
    return [LETTERS[i] for i in sorted(given.distinct(0, len(LETTERS), count))]


def words_of(given, count, letters):
    """Return so many different words of these letters."""
    words = []
    while len(words) < count:
        word = given.text(given.number(2, 7), letters)
        if word not in words:
            words.append(word)
    return words


def lines(given, *counted):
    """Return a text with each word on a line of its own, as often as it is counted, in random order.

    A line break is a pre-token without pairs, so nothing but the words is counted.
    """
    return "\n".join(given.shuffled([word for word, count in counted for _ in range(count)]))


def prose(given, count):
    """Return a text of so many words, with blanks, digits and signs between them; frequent words are short."""
    words, pieces = words_of(given, 9, some_letters(given, 5)), []
    for _ in range(count):
        word = given.choice(words[: given.number(1, len(words) + 1)])
        word = word.title() if given.real() < 0.2 else word
        pieces.append(word + (given.choice(ENDINGS) if given.real() < 0.15 else ""))
        pieces.append(str(given.number(1, 2030)) if given.real() < 0.1 else "")
        pieces.append(given.choice(SIGNS) if given.real() < 0.3 else "")
        pieces.append("\n" if given.real() < 0.1 else "  " if given.real() < 0.1 else " ")
    return "".join(pieces)


def readable(value):
    """Return bytes as a text with escapes, a pair as both of its parts, and what else there is by its type."""
    if isinstance(value, tuple | list):
        return " + ".join(readable(part) for part in value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return f"{type(value).__name__} {value}"


def learned(result, most):
    """Observe how many merges there are, and the first `most` of them by rank."""
    _, merges = result
    first = {f"merge {rank}": readable(pair) for rank, pair in enumerate(merges[:most])}
    return {**first, "number of merges": len(merges)}


def entries(result, most):
    """Observe the vocabulary: its size, two bytes, and the entries after the bytes, below the id `most`."""
    vocab, _ = result
    ids = (65, 200, *range(256, most))
    return {"entries of the vocabulary": len(vocab), **{f"entry of id {i}": readable(vocab.get(i)) for i in ids}}


@check("the most frequent pair is merged, again and again", points=3, of="train_bpe")
def test_merges(impl, given):
    words = words_of(given, 10, some_letters(given, 4))
    text = lines(given, *((word, given.number(1, 9)) for word in words))
    return learned(impl.train_bpe(text, vocab_size=256 + 10), 10)


@check("a word counts as often as it occurs in the text", points=2, of="train_bpe")
def test_frequencies(impl, given):
    p, q, r, s, *others = some_letters(given, 9)
    often = given.number(7, 10)
    text = lines(given, (p + q, often), *((r + s + other, 1) for other in others), (s + r, often - 1))
    return learned(impl.train_bpe(text, vocab_size=256 + 2), 2)


@check("of equally frequent pairs, the greatest is merged", points=2, of="train_bpe")
def test_ties(impl, given):
    letters = given.shuffled(some_letters(given, 16))
    words = [letters[i] + letters[i + 1] for i in range(0, 16, 2)]
    return learned(impl.train_bpe("\n".join([*words, *reversed(words)]), vocab_size=256 + 7), 7)


@check("pairs are compared as two byte strings, not joined", points=1, of="train_bpe")
def test_tie_of_tuples(impl, given):
    p, q, r = some_letters(given, 3)
    count = given.number(2, 5)
    text = lines(given, (p + q, 3), (p + q + p, count), (p + r, count))
    return learned(impl.train_bpe(text, vocab_size=256 + 2), 2)


@check("in a run of one letter every place counts, and merges do not overlap", points=2, of="train_bpe")
def test_runs(impl, given):
    p, q, r = given.shuffled(some_letters(given, 3))
    text = lines(given, (p * 3, 2), (p * 5, 1), (q + r, given.number(5, 8)), (p * 4 + q, 2))
    return learned(impl.train_bpe(text, vocab_size=256 + 7), 7)


@check("the counts beside a merge change with it", points=2, of="train_bpe")
def test_neighbours(impl, given):
    p, q, r, s, t = given.shuffled(some_letters(given, 5))
    often = given.number(8, 12)
    text = lines(given, (p + q + r, often), (q + s, 3), (s + q + r + t, 2), (t + s, often - 2))
    return learned(impl.train_bpe(text, vocab_size=256 + 4), 4)


@check("no pair goes beyond a pre-token", points=2, of="train_bpe")
def test_pretokens(impl, given):
    return learned(impl.train_bpe(prose(given, 80), vocab_size=256 + 16), 16)


@check("letters beyond ASCII are several bytes", points=1, of="train_bpe")
def test_broad_letters(impl, given):
    letters = given.shuffled(BROAD)
    words = ["".join(given.choice(letters[:5]) for _ in range(3)) for _ in range(6)]
    text = lines(given, *((word, given.number(1, 5)) for word in words))
    return learned(impl.train_bpe(text, vocab_size=256 + 9), 9)


@check("ids: bytes first, then merges, special tokens last", points=2, of="train_bpe")
def test_ids(impl, given):
    p, q, r = some_letters(given, 3)
    special = [f"<{given.text(4)}>", "<|end|>", f"<{given.text(3)}>"]
    text = lines(given, (p + q, 6), (r + p, 4), (q + r + p, 1))
    return entries(impl.train_bpe(text, vocab_size=256 + 3 + 3, special_tokens=special), 256 + 3 + 3)


@check("special tokens are cut out before pairs are counted", points=2, of="train_bpe")
def test_special_uncounted(impl, given):
    p, q, r, s = some_letters(given, 4)
    short = "<|" + p + q + "|>"
    special = ["[" + s + "]", short, short + r + s]
    words = given.shuffled(
        [word for word, count in ((p + r, 7), (q + s, 5), (p + q, 3), (s + r, 2)) for _ in range(count)]
    )
    text = "".join(word + given.choice(special) for word in words)
    return learned(impl.train_bpe(text, vocab_size=256 + 3 + 4, special_tokens=special), 4)


@check(
    "the size of the vocabulary counts special tokens",
    points=1,
    of="train_bpe",
    requires_any=("merges", "ties", "ids"),
)
def test_vocab_size(impl, given):
    text, merges = prose(given, 40), given.number(3, 8)
    special = [f"<{given.text(4)}>" for _ in range(given.number(2, 5))]
    result = impl.train_bpe(text, vocab_size=256 + merges + len(special), special_tokens=special)
    full = impl.train_bpe(text, vocab_size=256 + len(special), special_tokens=special)
    return {
        "number of merges": len(result[1]),
        "entries of the vocabulary": len(result[0]),
        "entries of a vocabulary without room for a merge": len(full[0]),
        "number of merges without room for one": len(full[1]),
    }


@check("merging goes on until no pair is left", points=2, of="train_bpe", requires_any=("merges", "ties", "ids"))
def test_until_none(impl, given):
    letters = given.shuffled(some_letters(given, 9))
    words = ["".join(letters[:4]), "".join(letters[4:7]), "".join(letters[7:])]
    result = impl.train_bpe("\n".join([*words, words[2]]), vocab_size=300)
    most = sum(len(word) - 1 for word in words)  # merges make one token of each word
    tokens = set(result[0].values())
    return {
        "number of merges": len(result[1]),
        "merges to make": most,
        "entries of the vocabulary": len(result[0]),
        "words that are one token": sorted(word for word in words if word.encode() in tokens),
    }


@check("a text without pairs gives no merges", points=1, of="train_bpe", requires_any=("merges", "ties", "ids"))
def test_no_pairs(impl, given):
    special = [f"<{given.text(4)}>"]
    empty = impl.train_bpe("", vocab_size=256 + given.number(4, 9), special_tokens=special)
    single = impl.train_bpe(given.text(1) + "\n" + given.text(1), vocab_size=256 + given.number(4, 9))
    return {
        "number of merges for an empty text": len(empty[1]),
        "entries of the vocabulary for an empty text": len(empty[0]),
        "entry of id 256 for an empty text": readable(empty[0].get(256)),
        "number of merges for single letters": len(single[1]),
    }


@check(
    "a vocabulary too small for the 256 bytes is refused",
    points=1,
    of="train_bpe",
    judge=Raises(),
    trials=1,
    requires_any=("merges", "ties", "ids"),
)
def test_too_small(impl, given):
    return given.raises(lambda: impl.train_bpe(given.text(9), vocab_size=200), 200, 256)


@check(
    "a vocabulary too small for bytes and special tokens is refused",
    points=1,
    of="train_bpe",
    judge=Raises(),
    trials=1,
    requires_any=("merges", "ties", "ids"),
)
def test_too_small_special(impl, given):
    special = ["<a>", "<b>", "<c>"]
    return given.raises(lambda: impl.train_bpe(given.text(9), vocab_size=258, special_tokens=special), 258)


def vocabulary(merges):
    """Return the vocabulary of merges: the bytes, then one entry for each merge."""
    tokens = [bytes([byte]) for byte in range(256)] + [first + second for first, second in merges]
    return dict(enumerate(tokens))


def tokenizer(impl, merges, special_tokens=None, vocab=None):
    """Return a tokenizer with these merges, given as texts."""
    pairs = [(first.encode(), second.encode()) for first, second in merges]
    return impl.Tokenizer(vocab or vocabulary(pairs), merges=pairs, special_tokens=special_tokens)


def competing(given):
    """Return four letters, and merges of which the first from the left, or the longest, is often not the lowest."""
    p, q, r, s = given.shuffled(some_letters(given, 4))
    return (p, q, r, s), [(q, r), (r, s), (p, q), (s, p), (p + q, s), (p, q + r), (s, q + r), (r + s, p)]


@check("the pair of lowest rank is merged first, wherever it stands", points=3, of="Tokenizer")
def test_ranks(impl, given):
    letters, merges = competing(given)
    p, q, r, s = letters
    own = tokenizer(impl, merges)
    words = [p + q + r, p + q + s, p + q + r + s, s + p + q + r, r + s + p + q, given.text(11, letters)]
    return {f"ids of {word!r}": own.encode(word) for word in words}


@check("every place of a pair is merged, and merged tokens merge again", points=2, of="Tokenizer")
def test_places(impl, given):
    p, q, r = given.shuffled(some_letters(given, 3))
    merges = [(p, p), (p + p, p + p), (q, r), (q + r, q + r), (p + p, p), (p + p + p, q), (q + r + q + r, p + p)]
    own = tokenizer(impl, merges)
    words = [p * 3, p * 4, p * 7, (q + r) * 3, (q + r) * 2 + p * 2, p * 3 + q, given.text(9, [p, p, q, r])]
    return {f"ids of {word!r}": own.encode(word) for word in words}


@check("the ids are those of the vocabulary, in any order", points=2, of="Tokenizer")
def test_own_ids(impl, given):
    letters, merges = competing(given)
    pairs = [(first.encode(), second.encode()) for first, second in merges]
    tokens = given.shuffled(list(vocabulary(pairs).values()))
    text = given.text(12, letters) + " " + given.text(5, letters)
    own = tokenizer(impl, merges, vocab=dict(given.shuffled(list(enumerate(tokens)))))
    ids = own.encode(text)
    return {f"ids of {text!r}": ids, "text decoded from these ids": own.decode(ids)}


@check("no merge goes beyond a pre-token", points=2, of="Tokenizer")
def test_boundaries(impl, given):
    p, q = given.shuffled(some_letters(given, 2))
    merges = [
        (q, " "),
        (q, "."),
        (p, "'"),
        (" ", p),
        (p, q),
        (" " + p, q),
        ("1", p),
        ("2", "1"),
        (" ", " "),
        ("'", "s"),
    ]
    own = tokenizer(impl, merges)
    texts = [p + q + " " + p + q + ".", p + "'s " + q, "21" + p + " " + q, q + "   " + p + q, q + " ." + q + "\n " + p]
    return {f"ids of {text!r}": own.encode(text) for text in texts}


@check("letters beyond ASCII are encoded as their bytes", points=1, of="Tokenizer")
def test_broad_encoded(impl, given):
    one, two = given.shuffled(BROAD)[:2]
    first = one.encode()
    pairs = [(first[:1], first[1:2]), (b" ", first[:2])] + ([(first[:2], first[2:3])] if len(first) > 2 else [])
    own = impl.Tokenizer(vocabulary(pairs), merges=pairs)
    return {f"ids of {text!r}": own.encode(text) for text in (one + two, two + " " + one, given.text(2) + one)}


@check("special tokens in a text are single ids", points=2, of="Tokenizer")
def test_special(impl, given):
    p, q = some_letters(given, 2)
    merges, special = [(p, q), ("<", "|"), ("|", ">")], ["<|end|>", "." + p, f"[{q}]"]
    own = tokenizer(impl, merges, special_tokens=given.shuffled(special))
    without = tokenizer(impl, merges)
    texts = [p + q + "<|end|>" + q, "<|end|>" + "<|end|>", p + "." + p + " " + f"[{q}]", f"[{p}]<|end" + p + q]
    return {
        **{f"ids of {text!r}": own.encode(text) for text in texts},
        "ids if no token is special": without.encode(texts[0]),
    }


@check("the longest special token wins at each place", points=1, of="Tokenizer")
def test_longest_special(impl, given):
    p, q = some_letters(given, 2)
    short = f"<|{p}|>"
    own = tokenizer(impl, [(p, q)], special_tokens=[short + q, short, short + short])
    texts = [short + q, short + short + q, q + short + p + short + q, short * 3]
    return {f"ids of {text!r}": own.encode(text) for text in texts}


@check("special tokens have the ids of the vocabulary, or the next ones", points=2, of="Tokenizer")
def test_special_ids(impl, given):
    p, q = some_letters(given, 2)
    known, *new = (f"<{given.text(5)}>" for _ in range(3))
    pairs = [(p.encode(), q.encode())]
    tokens = given.shuffled([*vocabulary(pairs).values(), known.encode()])
    own = tokenizer(impl, [(p, q)], [new[0], known, new[1]], dict(enumerate(tokens)))
    text = p + known + q + new[0] + p + q + new[1] + known
    ids = own.encode(text)
    return {f"ids of {text!r}": ids, "text decoded from these ids": own.decode(ids)}


@check("the bytes of all ids are joined before they are decoded", points=2, of="Tokenizer")
def test_joined(impl, given):
    one, two, three = given.shuffled(BROAD)[:3]
    first, second = one.encode(), two.encode()
    pairs = [(first[-1:], second[:1]), (first[-1:] + second[:1], second[1:2])]
    own = impl.Tokenizer(vocabulary(pairs), merges=pairs, special_tokens=["<|end|>"])
    split = [*first[:-1], 257, *second[2:]]
    return {
        "text of a letter in bytes": own.decode(list(three.encode())),
        "text of two letters that share a token": own.decode([*map(ord, given.text(3)), *split]),
        "text with a special token": own.decode([*split, 258, *three.encode()]),
    }


@check("bytes that are no UTF-8 become U+FFFD", points=1, of="Tokenizer")
def test_replaced(impl, given):
    own = tokenizer(impl, [])
    p, q = (ord(letter) for letter in some_letters(given, 2))
    return {
        "text of a byte alone": own.decode([p, given.number(0x80, 0xC0), q]),
        "text of a letter cut off": own.decode([q, p, *given.choice(BROAD).encode()[:-1]]),
    }


@check(
    "an id that is not in the vocabulary is refused",
    points=1,
    of="Tokenizer",
    judge=Raises(types=("ValueError", "KeyError")),
    trials=1,
    requires_any=("joined", "own_ids", "round_trip", "replaced"),
)
def test_unknown(impl, given):
    own = tokenizer(impl, [("a", "b")])
    return given.raises(lambda: own.decode([97, 256, 300, 98]), 300)


@check("decoding returns exactly the text that was encoded", points=2, of="Tokenizer")
def test_round_trip(impl, given):
    letters, merges = competing(given)
    own = tokenizer(impl, [*merges, (" ", letters[0])], special_tokens=["<|end|>"])
    word, other = given.text(5, letters), given.text(4, letters)
    texts = {
        "blanks": f"  {word}   {other} \n\n\t{word} ",
        "signs and digits": f"{word}'s 12.5% _{other}_ (2024) {given.choice(BROAD)}!?",
        "special tokens": f"{word.title()} <|end|>\n{other.upper()}<|end|>",
        "": "",
    }
    seen = {}
    for name, text in texts.items():
        ids = own.encode(text)
        seen |= {f"ids of {name or 'an empty text'}": ids, f"text of {name or 'an empty text'}": own.decode(ids)}
    return seen


@check("two tokenizers do not share anything", points=1, of="Tokenizer", requires_any=("ranks", "places", "own_ids"))
def test_own_state(impl, given):
    p, q, r = given.shuffled(some_letters(given, 3))
    word = p + q + r + p
    first = tokenizer(impl, [(p, q), (r, p)], special_tokens=[f"<{p}>"])
    before = first.encode(f"{word}<{p}>")
    second = tokenizer(impl, [(q, r)], special_tokens=[f"<{q}>"])
    return {
        "ids from the first": before,
        "ids from the second": second.encode(f"{word}<{q}><{p}>"),
        "ids from the first again": first.encode(f"{word}<{p}>"),
    }


@check("the inputs are not modified", points=1, requires_any=("ids", "special_ids", "special"))
def test_inputs_kept(impl, given):
    p, q = some_letters(given, 2)
    special, pairs = ["<b>", "<|end|>", "<a>"], [(p.encode(), q.encode())]
    vocab = vocabulary(pairs)
    impl.train_bpe(lines(given, (p + q, 3)), vocab_size=261, special_tokens=special)
    own = impl.Tokenizer(vocab, merges=pairs, special_tokens=special)
    ids = own.encode(p + q + "<a>")
    own.decode(ids)
    return {
        "special tokens": special,
        "entries of the vocabulary passed to Tokenizer": len(vocab),
        "merges passed to Tokenizer": [readable(pair) for pair in pairs],
        "ids of the same text afterwards": own.encode(p + q + "<a>"),
        "ids passed to decode": ids,
    }


TALE = (
    "the cat sat on the mat and the dog sat on the log. the cat saw the dog and the dog saw the cat. "
    "then the cat and the dog sat on the mat and saw the log."
)


@picture("how many tokens a text of 150 letters needs", rows="tokens", columns="merges")
def picture_tokens(impl, given):
    counts = []
    sizes = [0, 4, 8, 12, 16, 20, 24, 28]
    for merges in sizes:
        vocab, pairs = impl.train_bpe(TALE, vocab_size=256 + merges)
        counts.append(len(impl.Tokenizer(vocab, merges=pairs).encode(TALE)))
    return given.tensor(counts), [], [str(size) for size in sizes]
