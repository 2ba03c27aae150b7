"""Misconceptions: their authors' texts as messages."""

from collections.abc import Collection

from autograder.messages.wording import opened, sentence

MORE = "There may be one more mistake."

BESIDE = "There may be a mistake beside it."


def named(name: str, functions: Collection[str] = ()) -> str:
    """Return the name of a misconception as a sentence; the name of a function keeps its small first letter."""
    return sentence(opened(name, functions))


def explained(explanation: str, convention: str = "") -> str:
    """Return the explanation of a misconception, or of the convention of somebody, which is no mistake."""
    return f"This is the convention of {convention}. {explanation}" if convention else explanation


def more(convention: str = "") -> str:
    """Say that a misconception, or the convention of somebody, is not all that is wrong."""
    return BESIDE if convention else MORE
