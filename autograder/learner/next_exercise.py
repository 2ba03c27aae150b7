"""The exercise to move on to, and the beginning of its lesson."""

import os
import re
from itertools import takewhile

from autograder.course import Course, Exercise
from autograder.course.storage import open_plain
from autograder.learner.progress import Progress, save_events
from autograder.learner.progress.events import Event, now

MOST_BYTES = 256 << 10
"""The lesson is at the top: a larger file is not read to its end."""

_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
"""A link of Markdown; its text is enough on a terminal."""

_MARKUP = str.maketrans("", "", "*`$")
_BRACES = re.compile(r"(?:\\\w+|(?<=_)|(?<=\^))\{(\w+)\}")
_SYMBOLS = {r"\cdot": "·", r"\times": "×", r"\sqrt": "√"}


def following_exercise(course: Course, progress: Progress, *, skip: bool = False) -> Exercise | None:
    """Return the exercise to work on next: the current one until it was tried or is to be skipped, then the next."""
    current = progress.current(course)
    if current is None or current.id != progress.here or not (skip or progress.of(current).runs):
        return current
    return progress.following(course, current) or current


def way_on(course: Course, progress: Progress, passed: Exercise | None, following: Exercise) -> str:
    """Return in words that the way goes on to an exercise, or back to one that was left open before."""
    name = f"{following.number} {following.title}"
    order = [exercise.id for exercise in course.exercises]
    if passed is None or passed.id not in order or order.index(passed.id) < order.index(following.id):
        return f"on to {name}"
    return f"back to {name}, which {'fails again' if progress.of(following).ever_passed else 'is still open'}"


def unfinished_exercise(course: Course, progress: Progress) -> Exercise | None:
    """Return the current exercise if it was tried and does not pass."""
    current = progress.current(course)
    if current is None or current.id != progress.here or not progress.of(current).runs:
        return None
    return None if progress.of(current).passes_now else current


def moved_on(course: Course, progress: Progress) -> str:
    """Return which exercise a check without a name is about, if the last one passed; else ""."""
    current = progress.current(course)
    here = next((exercise for exercise in course.exercises if exercise.id == progress.here), None)
    if here is None or current is None or here is current:
        return ""
    return f"{here.number} {here.title} passes. Checking {current.number} {current.title}."


def move_to(course: Course, progress: Progress, exercise: Exercise) -> str:
    """Make an exercise the current one. Return a warning if that could not be saved, else ""."""
    if progress.here == exercise.id:
        return ""
    return save_events(course, [Event(now(), "next", exercise.id, "next")]).warning


def lesson_paragraphs(course: Course, exercise: Exercise) -> list[str]:
    """Return the first paragraph of the lesson in an exercise's file, without its heading."""
    try:
        with os.fdopen(open_plain(course.exercises_dir / exercise.file, below=course.root), "rb") as stream:
            text = stream.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    comments = [line.strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines())]
    prose = [line.removeprefix("#").strip() for line in comments if not line.startswith("# %%")]
    body = [line for line in prose if not line.startswith("#")]
    while body and not body[0]:
        body.pop(0)
    paragraph = _LINK.sub(r"\1", _without_latex(" ".join(takewhile(bool, body)))).translate(_MARKUP)
    if paragraph.endswith(":"):  # a formula or a table follows in the lesson, and not here
        paragraph = f"{paragraph[:-1]}."
    return [paragraph] if paragraph else []


def _without_latex(text: str) -> str:
    """Return a text in which the formulas of a line can be read on a terminal: `d_{model}` as `d_model`."""
    text = _BRACES.sub(r"\1", text)
    for command, symbol in _SYMBOLS.items():
        text = text.replace(command, symbol)
    return text
