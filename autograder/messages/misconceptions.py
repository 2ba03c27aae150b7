"""Misconceptions: their authors' texts as messages."""

from collections.abc import Collection

from autograder.messages.wording import opened, sentence

MORE = "There is at least one more mistake."


def named(name: str, functions: Collection[str] = ()) -> str:
    """Return the name of a misconception as a sentence; the name of a function keeps its small first letter."""
    return sentence(opened(name, functions))
