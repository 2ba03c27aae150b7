"""Text as pieces: byte-pair encoding over characters, learnt from a text and the same for the same text.

Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units", section 3.2: begin with single
characters, and join the pair that occurs most often, again and again. Words are cut first, each with the space before
it, and no pair reaches over such a cut.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from play.text import UNKNOWN

WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")
Pair = tuple[str, str]


class Pieces:
    """What a text is cut into: its characters and `joins`, pairs that are one piece, in the order they were learnt."""

    def __init__(self, characters: Iterable[str], joins: Iterable[Sequence[str]]) -> None:
        self.characters = "".join(sorted({*characters, UNKNOWN}))
        self._alphabet = frozenset(self.characters)
        self.joins = [(one, other) for one, other in joins]
        self.all = list(dict.fromkeys([*self.characters, *(one + other for one, other in self.joins)]))
        self._rank = {pair: place for place, pair in enumerate(self.joins)}
        self._cut: dict[str, list[str]] = {}

    def known(self, text: str) -> str:
        """Return a text with `UNKNOWN` for what is not in the alphabet; it stays as long as it was."""
        return "".join(each if each in self._alphabet else UNKNOWN for each in text)

    def cut(self, text: str) -> list[str]:
        """Return the pieces of a text; joined they are the text, as `known` has it."""
        pieces: list[str] = []
        for word in WORD.findall(self.known(text)):
            if word not in self._cut:
                self._cut[word] = self._pieces_of(word)
            pieces += self._cut[word]
        return pieces

    def _pieces_of(self, word: str) -> list[str]:
        parts = list(word)
        while len(parts) > 1:
            best = min(pairwise(parts), key=lambda pair: self._rank.get(pair, len(self.joins)))
            if best not in self._rank:
                break
            parts = joined(parts, best)
        return parts


def learned(text: str, many: int) -> Pieces:
    """Return the pieces of a text, at most `many`; a pair that occurs once is never joined."""
    words = Counter(WORD.findall(text))
    parts = {word: list(word) for word in words}
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[str]] = defaultdict(set)
    for word, often in words.items():
        for pair in pairwise(word):
            counts[pair] += often
            where[pair].add(word)
    joins: list[Pair] = []
    characters = set(text) | {UNKNOWN}
    while counts and len(characters) + len(joins) < many:
        best = max(counts, key=lambda pair: (counts[pair], pair))
        if counts[best] < 2:
            break
        joins.append(best)
        for word in sorted(where[best]):
            before, after = parts[word], joined(parts[word], best)
            parts[word] = after
            for pair in pairwise(before):
                counts[pair] -= words[word]
                where[pair].discard(word)
            for pair in pairwise(after):
                counts[pair] += words[word]
                where[pair].add(word)
        del counts[best]
    return Pieces(characters, joins)


def joined(parts: Sequence[str], pair: Pair) -> list[str]:
    """Return parts in which a pair, wherever it stands, is one."""
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
