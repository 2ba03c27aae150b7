# Uses the package `regex` with GPT-2's own pattern where it is installed; ranks are ids of merged tokens.
import itertools
import re
from collections import Counter

try:
    import regex

    WORDS = regex.compile(r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")
except ImportError:
    WORDS = re.compile(r"""'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:_|[^\s\w])+|\s+(?!\S)|\s+""")


def replaced(ids, pair, new):
    out = []
    for i in ids:
        if out and (out[-1], i) == pair:
            out[-1] = new
        else:
            out.append(i)
    return out


def special_at(special_tokens):
    ordered = list(special_tokens)
    ordered.sort(key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered)) if ordered else r"(?!)")


def train_bpe(text: str, vocab_size: int, special_tokens=()):
    if vocab_size - len(special_tokens) < 256:
        raise ValueError(f"{vocab_size=} < {256 + len(special_tokens)}")
    words = Counter()
    for document in special_at(special_tokens).split(text):
        words.update(WORDS.findall(document))
    corpus = [[list(word.encode()), count] for word, count in words.items()]
    vocab = [bytes([b]) for b in range(256)]
    merges = []
    while len(vocab) + len(special_tokens) < vocab_size:
        pairs = Counter()
        for ids, count in corpus:
            for i, j in itertools.pairwise(ids):
                pairs[i, j] += count
        if not pairs:
            break
        ranked = sorted(pairs, key=lambda p: (pairs[p], vocab[p[0]], vocab[p[1]]))
        i, j = ranked[-1]
        for entry in corpus:
            entry[0] = replaced(entry[0], (i, j), len(vocab))
        merges.append((vocab[i], vocab[j]))
        vocab.append(vocab[i] + vocab[j])
    vocab.extend(token.encode("utf-8") for token in special_tokens)
    return dict(enumerate(vocab)), merges


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.table = dict(sorted(vocab.items()))
        for token in special_tokens or ():
            if token.encode() not in self.table.values():
                self.table[len(self.table)] = token.encode()
        self.index = {token: i for i, token in self.table.items()}
        self.byte = [self.index[bytes([b])] for b in range(256)]
        self.order = {(self.index[a], self.index[b]): (r, self.index[a + b]) for r, (a, b) in enumerate(merges)}
        self.special = special_at(special_tokens or ())

    def _ordinary(self, text):
        for word in WORDS.findall(text):
            ids = [self.byte[b] for b in word.encode()]
            while best := min((self.order[p] + (p,) for p in itertools.pairwise(ids) if p in self.order), default=None):
                ids = replaced(ids, best[2], best[1])
            yield from ids

    def encode(self, text):
        ids, at = [], 0
        for found in self.special.finditer(text):
            ids.extend(self._ordinary(text[at : found.start()]))
            ids.append(self.index[found.group().encode()])
            at = found.end()
        return ids + list(self._ordinary(text[at:]))

    def decode(self, ids):
        if not set(ids) <= self.table.keys():
            raise ValueError(f"unknown ids: {sorted(set(ids) - self.table.keys())}")
        return b"".join(self.table[i] for i in ids).decode("utf-8", errors="replace")
