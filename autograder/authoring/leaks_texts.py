"""The texts of course.toml and of the public catalogue, each with its place: a leak in a hint is named by the hint."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

from autograder.course.misconceptions import CATALOGUE
from autograder.course.problems import COURSE_FILE


def named_texts(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each text that learners read in a file; nothing for other files."""
    try:
        if name.endswith(COURSE_FILE):
            yield from _of_course(tomllib.loads(data.decode("utf-8")))
        elif name.endswith(CATALOGUE):
            yield from _of_catalogue(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # a file of another form has no such texts


def _of_course(course: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for exercise in course["exercises"]:
        for check, hints in exercise.get("hints", {}).items():
            yield from ((f"a hint of the check {check} of {exercise['id']}", hint) for hint in hints)
        for todo, texts in exercise.get("start", {}).items():
            yield from ((f"a text of [exercises.start] for {todo} of {exercise['id']}", text) for text in texts)


def _of_catalogue(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for id_, texts in entries.items():
        for key, text in texts.items():
            if isinstance(text, str):
                yield f"the {key} of the misconception {id_}", text
