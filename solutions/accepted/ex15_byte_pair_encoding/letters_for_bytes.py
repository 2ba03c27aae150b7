# Writes each byte as one letter of Latin-1, as GPT-2 does with letters of its own; a string replaces the merging loop.
import itertools
import re
from collections import defaultdict
from functools import lru_cache

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:_|[^\s\w])+|\s+(?!\S)|\s+"""


def letters(word):
    return tuple(word.encode().decode("latin-1"))


def back(token):
    return token.encode("latin-1")


def joined(parts, pair):
    result = []
    iterator = iter(range(len(parts)))
    for i in iterator:
        if parts[i : i + 2] == pair:
            result.append(parts[i] + parts[i + 1])
            next(iterator, None)
        else:
            result.append(parts[i])
    return tuple(result)


def pattern_of(tokens):
    return re.compile("({})".format("|".join(re.escape(each) for each in sorted(tokens, key=len)[::-1])))


def train_bpe(text, vocab_size, special_tokens=()):
    assert_room(vocab_size, 256 + len(special_tokens))
    documents = pattern_of(special_tokens).split(text)[::2] if special_tokens else [text]
    words = defaultdict(int)
    for document in documents:
        for word in re.findall(PATTERN, document):
            words[letters(word)] += 1
    merges = []
    for _ in range(vocab_size - 256 - len(special_tokens)):
        counts = defaultdict(int)
        for parts, times in words.items():
            for i in range(len(parts) - 1):
                counts[parts[i], parts[i + 1]] += times
        try:
            pair = max(counts.items(), key=lambda item: item[::-1])[0]
        except ValueError:
            break
        merges += [pair]
        merged = defaultdict(int)
        for parts, times in words.items():
            merged[joined(parts, pair)] += times
        words = merged
    pairs = [(back(a), back(b)) for a, b in merges]
    vocab = {**{i: bytes([i]) for i in range(256)}, **{256 + i: a + b for i, (a, b) in enumerate(pairs)}}
    vocab |= {len(vocab) + i: token.encode() for i, token in enumerate(special_tokens)}
    return vocab, pairs


def assert_room(size, least):
    if size < least:
        raise ValueError(f"a vocabulary of {size} cannot hold {least}")


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        new = [token for token in special_tokens or [] if token.encode() not in vocab.values()]
        self.vocab = {**vocab, **{len(vocab) + i: token.encode() for i, token in enumerate(new)}}
        self.id = {token.decode("latin-1"): i for i, token in self.vocab.items()}
        self.rank = {(a.decode("latin-1"), b.decode("latin-1")): i for i, (a, b) in enumerate(merges)}
        self.special = pattern_of(special_tokens) if special_tokens else None
        self.word = lru_cache(maxsize=None)(self.uncached)  # of this object alone

    def uncached(self, word):
        parts = letters(word)
        while len(parts) > 1:
            pair = min(itertools.pairwise(parts), key=lambda pair: self.rank.get(pair, float("inf")))
            if pair not in self.rank:
                break
            parts = joined(parts, pair)
        return [self.id[part] for part in parts]

    def encode(self, text):
        pieces = self.special.split(text) if self.special else [text]
        ids = []
        for i, piece in enumerate(pieces):
            if i % 2:
                ids += [self.id[piece.encode().decode("latin-1")]]
            else:
                for word in re.findall(PATTERN, piece):
                    ids += self.word(word)
        return ids

    def decode(self, ids):
        for i in ids:
            if i not in self.vocab:
                raise KeyError(i)
        return b"".join(map(self.vocab.get, ids)).decode("utf8", "replace")
