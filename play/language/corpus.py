"""Pairs of sentences to learn from, and two kinds of sentences to be asked about that are not among them."""

from dataclasses import dataclass
from functools import cache
from random import Random
from zlib import crc32

from play.language.grammar import Grammar, Sentence
from play.language.lexicon import lexicon
from play.language.phrases import Pair, Words

LONGEST = 12
"""The most words of a sentence, in either language."""

APART = 12
"""One in so many pairs of words is never seen together in training."""

ONCE_IN = 1000
"""In so many sentences each of the phrases of the lexicon comes once: that is enough to know them by heart."""

Example = tuple[Words, Words]
"""A sentence in English and in Hindi."""


@dataclass(frozen=True)
class Corpus:
    """What is learned from, and what is asked: `unseen` sentences, and `combined` ones.

    A sentence of `combined` has a pair of words, like `red shirt` or `eat mango`, that no sentence of `learned` has,
    though it has both words.
    """

    learned: tuple[Example, ...]
    unseen: tuple[Example, ...]
    combined: tuple[Example, ...]


@cache
def held_apart(pair: Pair) -> bool:
    """Say whether a pair of English words is kept out of what is learned from."""
    return crc32(" ".join(pair).encode()) % APART == 0


def corpus(seed: int, learned: int, asked: int) -> Corpus:
    """Draw `learned` pairs to learn from, the phrases of the lexicon first, and `asked` of either other kind."""
    tests = _Drawn(Grammar(Random(f"asked {seed}")))
    unseen = tests.distinct(asked, combined=False)
    combined = tests.distinct(asked, combined=True)
    known = {english for english, _ in (*unseen, *combined)}
    draws = _Drawn(Grammar(Random(f"learned {seed}")))
    phrases = [(tuple(english.split()), tuple(hindi.split())) for english, hindi in lexicon().phrases.items()]
    examples = phrases * max(1, learned // ONCE_IN)
    while len(examples) < learned:
        sentence = draws.sentence(combined=False)
        if sentence.english not in known:
            examples.append((sentence.english, sentence.hindi))
    return Corpus(tuple(examples[:learned]), unseen, combined)


class _Drawn:
    """Sentences of a grammar that are not too long."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def sentence(self, *, combined: bool) -> Sentence:
        """Return the next one that has a pair held apart, or that has none."""
        while True:
            drawn = self._grammar.sentence()
            if max(len(drawn.english), len(drawn.hindi)) <= LONGEST and any(map(held_apart, drawn.pairs)) == combined:
                return drawn

    def distinct(self, count: int, *, combined: bool) -> tuple[Example, ...]:
        """Return so many different ones; none of the phrases, which are always learned."""
        found: dict[Words, Words] = {}
        while len(found) < count:
            drawn = self.sentence(combined=combined)
            if " ".join(drawn.english) not in lexicon().phrases:
                found[drawn.english] = drawn.hindi
        return tuple(found.items())
