"""Pairs of sentences to train on, and two kinds of test sentences that are not among them."""

from dataclasses import dataclass
from functools import cache
from random import Random
from zlib import crc32

from play.language.clauses import Sentence
from play.language.grammar import Grammar
from play.language.lexicon import lexicon
from play.language.phrases import Pair, Words

LONGEST = 12
"""The most words of a sentence, in either language."""

APART = 12
"""One in this many pairs of words never occurs in one training sentence."""

ONCE_IN = 1000
"""Each phrase of the lexicon occurs once in this many sentences: often enough to memorise it."""

Example = tuple[Words, Words]
"""A sentence in English and in Hindi."""


@dataclass(frozen=True)
class Corpus:
    """The training set, and two test sets: `unseen` sentences, and `combined` ones.

    A sentence of `combined` has a pair of words, like `red shirt` or `eat mango`, that no training sentence has,
    although both words occur there.
    """

    training: tuple[Example, ...]
    unseen: tuple[Example, ...]
    combined: tuple[Example, ...]


@cache
def is_held_out(pair: Pair) -> bool:
    """Return whether a pair of English words is kept out of the training set."""
    return crc32(" ".join(pair).encode()) % APART == 0


def corpus(seed: int, training: int, tested: int) -> Corpus:
    """Draw `training` pairs, the phrases of the lexicon first, and `tested` pairs for each test set."""
    tests = SentenceSampler(Grammar(Random(f"asked {seed}")))
    unseen = tests.distinct(tested, combined=False)
    combined = tests.distinct(tested, combined=True)
    known = {english for english, _ in (*unseen, *combined)}
    sampler = SentenceSampler(Grammar(Random(f"learned {seed}")))
    phrases = [(tuple(english.split()), tuple(hindi.split())) for english, hindi in lexicon().phrases.items()]
    examples = phrases * max(1, training // ONCE_IN)
    while len(examples) < training:
        sentence = sampler.sentence(combined=False)
        if sentence.english not in known:
            examples.append((sentence.english, sentence.hindi))
    return Corpus(tuple(examples[:training]), unseen, combined)


class SentenceSampler:
    """Draws sentences of a grammar that are not too long."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def sentence(self, *, combined: bool) -> Sentence:
        """Return the next sentence with a held-out pair, or without one."""
        while True:
            drawn = self._grammar.sentence()
            if max(len(drawn.english), len(drawn.hindi)) <= LONGEST and any(map(is_held_out, drawn.pairs)) == combined:
                return drawn

    def distinct(self, count: int, *, combined: bool) -> tuple[Example, ...]:
        """Return so many different sentences, without phrases: those are in the training set."""
        examples: dict[Words, Words] = {}
        while len(examples) < count:
            drawn = self.sentence(combined=combined)
            if " ".join(drawn.english) not in lexicon().phrases:
                examples[drawn.english] = drawn.hindi
        return tuple(examples.items())
