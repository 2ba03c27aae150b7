"""Texts of an exercise that an author still has to write: placeholders, repeated texts, hints of a few words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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
        "the explanations of the misconceptions": _there(entries, "explanation"),
        "the hints of the misconceptions": _there(entries, "hint"),
    }
    placeholders = {
        "the lines of the solution": _lesson(course, exercise),
        "the names of the misconceptions": list(filter(_is_placeholder, (entry.get("name", "") for entry in entries))),
    }
    for which, found in {**placeholders, **texts}.items():
        yield from (f"{exercise.id}: of {which}, {sentence}" for sentence in _sentences(found))


def _there(entries: Sequence[Mapping[str, str]], key: str) -> list[str]:
    """Return the texts that are there: a missing one is a problem of the catalogue."""
    return [text for entry in entries if (text := entry.get(key, "")).strip()]


def _is_placeholder(text: str) -> bool:
    return text.startswith(PLACEHOLDER)


def _lesson(course: Course, exercise: Exercise) -> list[str]:
    """Return the placeholders in the lesson and the docstrings: `TODO ex05` is a task, and `TODO:` is none."""
    file = course.solutions_dir / exercise.file
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return [line[line.index(f"{PLACEHOLDER}:") :] for line in lines if f"{PLACEHOLDER}:" in line]


def _sentences(texts: Sequence[str]) -> Iterator[str]:
    placeholders = list(filter(_is_placeholder, texts))
    if placeholders:
        yield f"{len(placeholders)} still {'says' if len(placeholders) == 1 else 'say'} {PLACEHOLDER}"
    for text, count in Counter(texts).items():
        if count > MOST_ALIKE and text not in placeholders:
            yield f"{count} are equal: {text!r}"
    short = [text for text in texts if len(text.split()) < FEWEST_WORDS and text not in placeholders]
    if short:
        has = "has" if len(short) == 1 else "have"
        yield f"{len(short)} {has} fewer than {FEWEST_WORDS} words; the first is {short[0]!r}"
