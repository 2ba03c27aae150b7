"""The texts behind the commands of an editor: hints, explanations, and the stub of one function."""

import ast
from dataclasses import dataclass

from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.course.stubs import StubError, stub_text
from autograder.learner.hints import no_hint_reason, take_hint
from autograder.learner.misconception_page import find_page
from autograder.learner.progress import read_progress
from autograder.learner.progress.digests import digest_of
from autograder.learner.start import may_start, start_of_file
from autograder.protocol.functions import first_line, function_definitions
from autograder.submission.own_work import own_source

CHECK, HINT, WHY, LESSON = "course.check", "course.hint", "course.why", "course.lesson"
COMMANDS = (CHECK, HINT, WHY, LESSON)
"""The commands that an editor may ask for; the argument of each is the id of an exercise."""


@dataclass(frozen=True)
class ShownHint:
    """A hint to show. `waits_for_edit` says that the next one needs an edit first."""

    text: str
    waits_for_edit: bool = False


def next_hint(course: Course, exercise: Exercise, *, at_once: bool = False) -> ShownHint:
    """Return the next hint, as `course hint` shows it, and record it. Raises `UsageError` if there is none."""
    progress = read_progress(course)
    if reason := no_hint_reason(course, progress, exercise):
        raise UsageError(" ".join(reason))
    standing = progress.of(exercise)
    if (start := start_of_file(course, exercise, standing)) is not None:
        return ShownHint(f"{start.label} for {start.todo.name}: {start.text}")
    source = own_source(course, exercise)
    digest = digest_of(source) if source is not None else None
    taken = take_hint(course, exercise, standing, digest, at_once=at_once)
    level = len(taken.hints)
    waits = f" Hint {level + 1} comes after you edit {exercise.file}." if taken.waits_for_edit else ""
    return ShownHint(f"Hint {level} of {taken.total}: {taken.hints[-1]}{waits}", taken.waits_for_edit)


def hint_title(course: Course, exercise: Exercise) -> str:
    """Return what the next hint is called: the first, the next one of how many, or the last again."""
    standing = read_progress(course).of(exercise)
    shown, total = standing.hints_shown, len(standing.hints)
    if may_start(standing) or not shown or not total:
        return "Show a hint"
    return f"Show hint {shown + 1} of {total}" if shown < total else f"Show hint {total} of {total} again"


def explanation(course: Course, misconception: str) -> str:
    """Return why a mistake is one, and why it is tempting. Raises `UsageError` if it is unknown."""
    page, _ = find_page(course, read_progress(course), misconception)
    parts = (page.name, page.explanation, page.tempting and f"Why it is tempting: {page.tempting}", page.experiment)
    return "\n\n".join(dict.fromkeys(part for part in parts if part))


def stub_of_function(course: Course, exercise: Exercise, text: str, line: int) -> tuple[str, int, int, str] | None:
    """Return the function around a line: its name, its first and last line, and its text in the stub.

    None if there is none, if the stub has none of that name, or if it is the stub's already.
    """
    try:
        stub = stub_text(course, exercise)
        own = _spans(text)
        handed_out = _spans(stub) if stub is not None else {}
    except (StubError, OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    around = [(name, span) for name, span in own.items() if span[0] <= line <= span[1] and name in handed_out]
    if not around or stub is None:
        return None
    name, (first, last) = max(around, key=lambda item: item[1][0])
    begin, end = handed_out[name]
    new = stub.splitlines()[begin - 1 : end]
    return None if text.splitlines()[first - 1 : last] == new else (name, first, last, "\n".join(new))


def _spans(text: str) -> dict[str, tuple[int, int]]:
    """Return the first and last line of each function and method, with its decorators."""
    spans = {}
    for owner, node in function_definitions(ast.parse(text)):
        spans[f"{owner}.{node.name}" if owner else node.name] = first_line(node), node.end_lineno or node.lineno
    return spans
