"""Byte-pair encoding over characters: the same text always gives the same pieces.

Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units", section 3.2: begin with single
characters, and merge the most frequent pair, again and again. The text is split into words first, each with the space
before it, and no pair crosses the border of a word.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from play.text import UNKNOWN

WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")
Pair = tuple[str, str]


class Pieces:
    """The pieces of a text: its characters, and the `merges` of two pieces in the order they were learned."""

    def __init__(self, characters: Iterable[str], merges: Iterable[Sequence[str]]) -> None:
        self.characters = "".join(sorted({*characters, UNKNOWN}))
        self._alphabet = frozenset(self.characters)
        self.merges = [(one, other) for one, other in merges]
        self.all = list(dict.fromkeys([*self.characters, *(one + other for one, other in self.merges)]))
        self._rank = {pair: place for place, pair in enumerate(self.merges)}
        self._words: dict[str, list[str]] = {}

    def with_unknown(self, text: str) -> str:
        """Replace each character that is not in the alphabet by `UNKNOWN`."""
        return "".join(letter if letter in self._alphabet else UNKNOWN for letter in text)

    def split(self, text: str) -> list[str]:
        """Return the pieces of a text. Joined they are the text, with unknown characters replaced."""
        pieces: list[str] = []
        for word in WORD.findall(self.with_unknown(text)):
            if word not in self._words:
                self._words[word] = self.pieces_of(word)
            pieces += self._words[word]
        return pieces

    def pieces_of(self, word: str) -> list[str]:
        """Return the pieces of one word, whose characters are all in the alphabet."""
        parts = list(word)
        while len(parts) > 1:
            best = min(pairwise(parts), key=lambda pair: self._rank.get(pair, len(self.merges)))
            if best not in self._rank:
                break
            parts = merge(parts, best)
        return parts


def learn_pieces(text: str, many: int) -> Pieces:
    """Return at most `many` pieces of a text. A pair that occurs once is never merged."""
    words = Counter(WORD.findall(text))
    parts = {word: list(word) for word in words}
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[str]] = defaultdict(set)
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
            where[pair].add(word)
    joins: list[Pair] = []
    characters = set(text) | {UNKNOWN}
    while counts and len(characters) + len(joins) < many:
        most, best = max((count, pair) for pair, count in counts.items())
        if most < 2:
            break
        joins.append(best)
        for word in sorted(where[best]):
            before, after = parts[word], merge(parts[word], best)
            parts[word] = after
            for pair in pairwise(before):
                counts[pair] -= words[word]
                where[pair].discard(word)
            for pair in pairwise(after):
                counts[pair] += words[word]
                where[pair].add(word)
        del counts[best]
    return Pieces(characters, joins)


def merge(parts: Sequence[str], pair: Pair) -> list[str]:
    """Return parts in which each occurrence of a pair is one part."""
    out: list[str] = []
    place = 0
    while place < len(parts):
        if tuple(parts[place : place + 2]) == pair:
            out.append(pair[0] + pair[1])
            place += 2
        else:
            out.append(parts[place])
            place += 1
    return out
