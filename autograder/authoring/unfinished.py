"""Texts of an exercise that an author still has to write: placeholders, repeated texts, hints of a few words."""

from collections import Counter
from collections.abc import Iterator, Sequence

from autograder.course import Course, Exercise
from autograder.course.misconceptions import catalogue

PLACEHOLDER = "TODO"

MOST_ALIKE = 2
"""Two misconceptions may share an explanation or a question. Three with the same text is usually a filler."""

FEWEST_WORDS = 3
"""A hint of two words says nothing that the name of the check does not say. Good ones have ten or more."""


def unfinished_texts(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each kind of text that says too little to a learner."""
    entries = [entry for entry in catalogue(course).values() if entry["exercise"] == exercise.id]
    texts = {
        "the texts of [exercises.start]": [text for begin in exercise.start.values() for text in begin],
        "the hints of the checks": [hint for hints in exercise.hints.values() for hint in hints],
        "the explanations of the misconceptions": [entry.get("explanation", "") for entry in entries],
        "the hints of the misconceptions": [entry.get("hint", "") for entry in entries],
    }
    for which, found in texts.items():
        yield from (f"{exercise.id}: of {which}, {sentence}" for sentence in _sentences(found))


def _sentences(texts: Sequence[str]) -> Iterator[str]:
    placeholders = [text for text in texts if text.startswith(PLACEHOLDER)]
    if placeholders:
        yield f"{len(placeholders)} still {'says' if len(placeholders) == 1 else 'say'} {PLACEHOLDER}"
    for text, count in Counter(texts).items():
        if count > MOST_ALIKE and text not in placeholders:
            yield f"{count} are equal: {text!r}"
    short = [text for text in texts if len(text.split()) < FEWEST_WORDS and text not in placeholders]
    if short:
        has = "has" if len(short) == 1 else "have"
        yield f"{len(short)} {has} fewer than {FEWEST_WORDS} words; the first is {short[0]!r}"
