"""Questions with four answers to choose from, in an order that looks random and is always the same."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

MOST_ANSWERS = 4


@dataclass(frozen=True)
class Choice:
    """A question with answers to choose from; `right` is the index of the right one."""

    question: str
    answers: tuple[str, ...]
    right: int


def make_choice(question: str, right: str, others: Iterable[str], salt: str) -> Choice:
    """Return a question with the right answer and some of the others."""
    chosen = sorted(set(others) - {right}, key=lambda text: text_hash(f"{salt} {text}"))[: MOST_ANSWERS - 1]
    answers = sorted([right, *chosen], key=lambda text: text_hash(f"{salt} {question} {text}"))
    return Choice(question, tuple(answers), answers.index(right))


def text_hash(text: str) -> str:
    """Return the hash that orders texts."""
    return hashlib.sha256(text.encode()).hexdigest()
