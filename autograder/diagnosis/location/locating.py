"""Finds the place of a mistake: the statement a misconception is known by, or the line where the values diverge."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from autograder.answer_key.model import Misconception
from autograder.diagnosis.diagnosis import UNEXPLAINED as UNEXPLAINED
from autograder.diagnosis.diagnosis import Location
from autograder.diagnosis.exceptions import in_characters
from autograder.diagnosis.location.deadline import Deadline
from autograder.diagnosis.location.divergence import first_divergence
from autograder.diagnosis.location.matching import Where
from autograder.messages.locations import Divergence, State
from autograder.protocol.source_text import lines_of
from autograder.results import Place
from autograder.runner.outcomes import Survey
from autograder.runner.traces import Trace


def by_statement(
    entry: Misconception,
    catalogue: Iterable[Misconception],
    statements: Sequence[tuple[str, int]],
    survey: Survey,
    divergence: Divergence | None = None,
) -> list[int]:
    """Return the line of the statement of a misconception that diverges, else the lines that it may be.

    None of them if a statement is missing, or each is there several times. The head of a function is one only if no
    other statement is. What fewer misconceptions have is more likely the mistake: several of them may write theirs into
    the same new function.
    """
    found = [(hash_, line) for hash_, line in statements if hash_ in entry.marks]
    times = Counter(hash_ for hash_, _ in found)
    if not found or set(entry.marks) != set(times):
        return []
    if divergence is not None and any(line == divergence.place.line and times[hash_] == 1 for hash_, line in found):
        return [divergence.place.line]
    found = [(hash_, line) for hash_, line in found if survey.runs(line)] or found
    shared = Counter(mark for other in catalogue for mark in other.marks)
    fewest = min(shared[hash_] for hash_, _ in found)
    lines = sorted((times[hash_] > 1, line) for hash_, line in found if shared[hash_] == fewest)
    return [line for _, line in lines] if not lines[0][0] else []


def by_value(
    trace: Trace, reference: Trace, file: str, trusted: Collection[str], deadline: Deadline
) -> Divergence | None:
    """Return the first step that diverges, with its place in the exercise's own file.

    `trusted` are the functions and classes whose own checks pass: wrong values in them come from their arguments.
    Raises `OutOfTime`.
    """
    return first_divergence(trace, reference, in_file(file, trusted), deadline)


def in_file(file: str, trusted: Collection[str]) -> Where:
    """Return a function that chooses, of the places in the student's frames, the nearest that is not trusted."""

    def choose(stack: Sequence[Place]) -> Place | None:
        own = [place for place in stack if place.file == file]
        doubted = [place for place in own if (place.function or "").split(".")[0] not in trusted]
        return next(iter(doubted or own[-1:]), None)

    return choose


def trusted_parts(failed: str | None, passing: Iterable[str | None], failing: Iterable[str | None]) -> frozenset[str]:
    """Return the parts of an exercise that pass every check of their own, save the one a failed check is about."""
    return frozenset({part for part in passing if part} - {part for part in failing if part} - {failed or ""})


def made_at(divergence: Divergence, survey: Survey | None) -> Place | None:
    """Return where the plain number is made by which a value is wrong, if its variable is assigned once.

    A value that is wrong by the number itself, its square or its root comes from a right number used in a wrong way.
    """
    if divergence.number is None or divergence.factor is None or survey is None:
        return None
    name, number = divergence.number
    if divergence.state is not State.UNKNOWN or _is_power(abs(divergence.factor), abs(number)):
        return None
    function = divergence.place.function or ""
    owner = function.split(".")[0] if name.startswith("self.") else function
    lines = [line for of, variable, line in survey.assignments if (of, variable) == (owner, name)]
    if len(lines) != 1 or lines[0] == divergence.place.line:
        return None
    return Place(divergence.place.file, lines[0])


def is_judged(divergence: Divergence, source: bytes) -> bool:
    """Whether all that a diverging line computes with is in a trace: the gradients of an optimizer's step are not."""
    lines = lines_of(source)
    line = divergence.place.line
    return not (0 < line <= len(lines) and _STEP.search(lines[line - 1]))


def configured(divergence: Divergence, survey: Survey | None, source: bytes) -> Location | None:
    """Return where the part is made that drops out at another rate, if it is an attribute that is assigned once.

    The diverging line calls it, or hands it on to be called.
    """
    place = divergence.place
    lines = lines_of(source)
    if not divergence.configured or survey is None or not 0 < place.line <= len(lines):
        return None
    owner = (place.function or "").split(".")[0]
    own = [(name, line) for of, name, line in survey.assignments if of == owner]
    called, used = (set(pattern.findall(lines[place.line - 1])) for pattern in (_CALLED, _USED))
    made = [line for name, line in own if name in called]
    if not called:
        made = [line for name, line in own if name in used and line <= len(lines) and _MADE.search(lines[line - 1])]
    there = Place(place.file, made[0], f"{owner}.__init__") if len(called) <= 1 and len(made) == 1 else None
    return Location(there, is_likely=True) if there is not None else None


_STEP = re.compile(r"\.step\(\s*\)")
"""A step of an optimizer or of a schedule, called without arguments."""

_CALLED = re.compile(r"self\.\w+(?=\()")
"""An attribute of `self` that is called."""

_USED = re.compile(r"self\.\w+")
"""An attribute of `self`, called or handed on."""

_MADE = re.compile(r"\bDropout\w*\(")
"""A part that drops out, as it is made."""


def _is_power(factor: float, number: float) -> bool:
    """Whether a factor is a number, its square, its root, or one divided by them."""
    # The root or the square of a number beyond is near 0, or beyond float32.
    if not 1e-6 < number < 1e6:
        return False
    powers = [number**exponent for exponent in (0.5, 1, 2, -0.5, -1, -2)]
    return any(abs(factor - power) < 1e-3 * power for power in powers)


def location_of(
    statements: Sequence[int],
    divergence: Divergence | None,
    survey: Survey | None,
    source: bytes,
    functions: Mapping[int, str],
    file: str,
) -> Location | None:
    """Return the best location there is: the statement that is known, else the line that diverges or its origin.

    Of several known statements the first is only likely, and so is the head of a function, which may have more lines.
    """
    origin = made_at(divergence, survey) if divergence is not None and not statements else None
    known = Place(file, statements[0]) if statements else origin
    if known is not None and (divergence is None or divergence.place.line != known.line):
        place = replace(known, function=functions.get(known.line))
        if origin is not None:
            return Location(place, divergence, is_origin=True)
        return Location(place, is_likely=len(statements) > 1 or (survey is not None and not survey.runs(place.line)))
    return Location(in_characters(divergence.place, source), divergence) if divergence is not None else None
