"""What a lesson shows of a program, beside its checks: pictures of finished parts, and the steps of its example.

A worker's data is hostile: only small pictures pass. No verdict depends on any of it.
"""

import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autograder import comparison  # its face loads NumPy when a name is used
from autograder.checks import Drawing, Key, Step
from autograder.course import Exercise, Grid
from autograder.diagnosis import Diagnosis, EarlierUnwritten, Source, exceeded_memory, finding_of, of_death, of_fault
from autograder.protocol import Array, Opaque, Value
from autograder.results import Fact, Finding, Picture
from autograder.runner import Fault, Observed, Outcome, Plan, WorkerFailure, is_out_of_memory

MOST_ROWS, MOST_COLUMNS = 64, 200
LONGEST_LABEL = 24
DIGITS = 4
"""Significant digits that are kept: no eye sees more."""


class NoPicture(Exception):
    """What a probe returned cannot be drawn; the message says why."""


def plan_of(exercise: Exercise, probes: Sequence[Drawing | Step]) -> Plan:
    """Return the plan of some pictures, or of some steps, of an exercise."""
    return {exercise.id: [(probe.id, 0) for probe in probes]} if probes else {}


def pictures_of(drawings: Sequence[Drawing], outcomes: Mapping[Key, Outcome]) -> tuple[Picture, ...]:
    """Return the pictures that can be drawn; the others are no matter of a student's."""
    return tuple(found for found in _read_all(drawings, outcomes) if isinstance(found, Picture))


def failures(drawings: Sequence[Drawing], outcomes: Mapping[Key, Outcome]) -> list[str]:
    """Return for the author why the others cannot be drawn, a sentence each."""
    return [str(found) for found in _read_all(drawings, outcomes) if isinstance(found, NoPicture)]


def _read_all(drawings: Sequence[Drawing], outcomes: Mapping[Key, Outcome]) -> Iterator[Picture | NoPicture]:
    for drawing in drawings:
        try:
            yield _picture(drawing, outcomes.get((drawing.id, 0)))
        except NoPicture as error:
            yield NoPicture(f"the picture {drawing.id} {error}")


def _picture(drawing: Drawing, outcome: Outcome | None) -> Picture:
    match outcome:
        case Observed():
            values, row_labels, column_labels = _parts(outcome.value)
        case Fault():
            raise NoPicture(f"raises {outcome.type}: {outcome.full_message}")
        case WorkerFailure():
            raise NoPicture(f"ended the process: {outcome.sentence}")
        case None:
            raise NoPicture("was not drawn")
    grid, bars = _grid(values)
    return Picture(
        drawing.title,
        grid,
        drawing.rows,
        drawing.columns,
        _labels(row_labels, 0 if bars else len(grid), "row"),
        _labels(column_labels, len(grid[0]), "column"),
        bars,
    )


def _parts(value: Value) -> tuple[Value, Value, Value]:
    match value:
        case Array():
            return value, [], []
        case [values, row_labels, column_labels]:
            return values, row_labels, column_labels
    raise NoPicture("returns neither a tensor nor a tensor with labels of its rows and of its columns")


def _grid(values: Value) -> tuple[tuple[tuple[float | None, ...], ...], bool]:
    """Return rows of numbers, and whether they are the heights of bars: a tensor of one axis."""
    if not isinstance(values, Array) or len(values.shape) not in (1, 2):
        raise NoPicture("has no tensor of one axis or two")
    rows, columns = values.shape if len(values.shape) == 2 else (1, *values.shape)
    if not (1 <= rows <= MOST_ROWS and 1 <= columns <= MOST_COLUMNS):
        raise NoPicture(f"has {rows} × {columns} values, expected 1 × 1 to {MOST_ROWS} × {MOST_COLUMNS}")
    found = _numbers(values)
    if not any(map(math.isfinite, found)):
        raise NoPicture("has no finite value")
    grid = [found[start : start + columns] for start in range(0, rows * columns, columns)]
    return tuple(tuple(_shortened(value) for value in row) for row in grid), len(values.shape) == 1


_CODES = {
    **{"float64": "d", "float32": "f", "float16": "e", "bool": "?", "uint8": "B"},
    **{"int64": "q", "int32": "i", "int16": "h", "int8": "b"},
}
"""How `struct` names a dtype; it has no name for bfloat16."""


def _numbers(array: Array) -> list[float]:
    """Return the elements. NumPy would take longer to load than a whole check of plain Python."""
    if array.dtype not in _CODES:
        return [float(value) for value in comparison.numbers(array).ravel()]
    count = math.prod(array.shape)
    return [float(value) for value in struct.unpack(f"<{count}{_CODES[array.dtype]}", array.data)]


def _shortened(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _labels(labels: Value, count: int, axis: str) -> tuple[str, ...]:
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise NoPicture(f"has {axis} labels that are no list of strings")
    if len(labels) not in (0, count):
        expected = f"{count}, or none" if count else "none, as bars have no rows"
        raise NoPicture(f"has {len(labels)} {axis} labels, expected {expected}")
    if any(len(label) > LONGEST_LABEL for label in labels):
        raise NoPicture(f"has a {axis} label of more than {LONGEST_LABEL} characters")
    return tuple(labels)


# Steps of a worked example that are not written yet, or differ from the numbers on paper.

NOT_RUN = "this step was not run"


UNWRITTEN_STEP = Fact("todo", "This TODO is not written yet", whole=True)
"""A step needs code that is not written yet."""


def differing_step(title: str, found: str = "", paper: str = "") -> Fact:
    """A step has other numbers than the paper, or another shape: what was found, and what is on paper."""
    says = f"your code returns {found}, on paper it is {paper}" if found else "your values differ from those on paper"
    return Fact("value", f"{title}: {says}", whole=True)


def grid_shape(grid: Grid) -> str:
    """Return how many rows and numbers there are, in words."""
    lengths = sorted({len(row) for row in grid})
    kind = "number" if all(_is_number(word) for row in grid for word in row) else "word"
    if len(grid) == 1:
        return f"one {kind}" if lengths == [1] else f"{lengths[0]} {kind}s"
    return f"{len(grid)} rows of {' to '.join(str(length) for length in dict.fromkeys((lengths[0], lengths[-1])))}"


def _is_number(word: str) -> bool:
    """Whether a word is a number, or a mark of a mask."""
    try:
        float(word)
    except ValueError:
        return word in ("x", ".")
    return True


def described_result(value: Value) -> str:
    """Return what a value is that has no rows of numbers, in words."""
    if isinstance(value, Array):
        return comparison.described(value)
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, Opaque):
        return f"an object of type {value.type_name}"[:80]
    return "something that is not a row of numbers"


Mark = Literal["equal", "differs", "unseen", "unwritten", "failed"]

UNSEEN = "autograder.checks.plain_given.Unseen"
"""The type of what a step has when the code computes without calling the part that the step looks at."""

STEP_ROWS, STEP_COLUMNS = 16, 16
"""A larger result is described by its shape."""

WHOLE = 5e-4
"""The largest difference from a number that the lesson writes without decimals."""

ROUNDING = 1.001
"""Half a unit of the last digit, and what float32 may add to it."""

LARGEST = 1e6
"""Larger numbers are written with an exponent."""

_NUMBER = re.compile(r"[+-]?\d+(?:\.(\d+))?(?:e([+-]?\d+))?")
_BOOLEAN = {"x": 1.0, ".": 0.0}
"""How a lesson writes masks."""


@dataclass(frozen=True)
class StepResult:
    """A step: the numbers on paper and yours, in the same digits; `finding` says what is wrong, if anything is.

    `yours` is None if there are no numbers to show.
    """

    id: str
    title: str
    mark: Mark
    paper: Grid
    yours: Grid | None = None
    finding: Finding | None = None


def read_paper(text: str) -> Grid:
    """Return what a step has on paper: a row for each line, without brackets and commas."""
    lines = (re.sub(r"[\[\](),]", " ", line).split() for line in text.strip().splitlines())
    return tuple(tuple(line) for line in lines if line)


def results_of(
    steps: Sequence[Step], outcomes: Mapping[Key, Outcome], exercise: Exercise, source: Source, memory_mib: int
) -> tuple[StepResult, ...]:
    """Compare what the steps gave with the paper.

    If all steps outside are equal, those inside a module cannot be wrong: the code computes them in another way.
    """
    results = []
    for step in steps:
        outcome = outcomes.get((step.id, 0)) or WorkerFailure("grader_error", NOT_RUN)
        paper, yours = read_paper(step.paper), None
        if isinstance(outcome, Observed):
            mark, fact, yours = _compared(step, paper, outcome.value)
            diagnosis = Diagnosis("pattern", fact) if fact is not None else None
        else:
            mark, diagnosis = _failed(outcome, exercise, source, memory_mib)
        finding = finding_of(diagnosis, source) if diagnosis is not None else None
        results.append(StepResult(step.id, step.title, mark, paper, yours, finding))
    outside = [result for step, result in zip(steps, results, strict=True) if not step.inside]
    if all(result.mark == "equal" for result in outside):
        unseen = [StepResult(result.id, result.title, "unseen", result.paper) for result in results]
        results = [one if one.mark == "equal" else other for one, other in zip(results, unseen, strict=True)]
    return tuple(results)


def _failed(
    outcome: Fault | WorkerFailure, exercise: Exercise, source: Source, memory_mib: int
) -> tuple[Mark, Diagnosis]:
    if isinstance(outcome, WorkerFailure):
        return "failed", of_death(outcome)
    place = outcome.frames[-1] if outcome.frames else None
    if outcome.kind == "todo" and place is not None:
        own = place.file == exercise.file
        fact = UNWRITTEN_STEP if own else EarlierUnwritten(exercise.file, place.file).fact
        return "unwritten", Diagnosis("structure", fact, place=place)
    if is_out_of_memory(outcome):
        return "failed", Diagnosis("exception", exceeded_memory(outcome.type, memory_mib), place=place)
    return "failed", of_fault(outcome, exercise.file, source.data)


def _compared(step: Step, paper: Grid, value: Value) -> tuple[Mark, Fact | None, Grid | None]:
    """Return how a step compares with the paper, what is wrong, and its numbers."""
    if value == Opaque(UNSEEN):
        return "unseen", None, None
    rows = _rows(value)
    if rows is None:
        return "differs", differing_step(step.title, described_result(value), grid_shape(paper)), None
    if [len(row) for row in rows] != [len(row) for row in paper]:
        yours = tuple(tuple(_written(number, paper[0][0]) for number in row) for row in rows)
        return "differs", differing_step(step.title, grid_shape(yours), grid_shape(paper)), yours
    pairs = [list(zip(row, own, strict=True)) for row, own in zip(paper, rows, strict=True)]
    yours = tuple(tuple(word if _equal(found, word) else _written(found, word) for word, found in row) for row in pairs)
    return ("equal", None, yours) if yours == paper else ("differs", differing_step(step.title), yours)


def _rows(value: Value) -> list[list[float | str]] | None:
    """Return an observation as rows of numbers and words; None if it has more than two axes, or is too large.

    Axes of size 1 before the last two do not count.
    """
    if isinstance(value, Array):
        if any(size > 1 for size in value.shape[:-2]) or any(not 0 < size <= STEP_COLUMNS for size in value.shape):
            return None
        found = comparison.numbers(value)
        return [list(row) for row in found.reshape(-1, found.shape[-1] if found.ndim else 1).tolist()]
    if isinstance(value, list | tuple):
        if any(isinstance(part, list | tuple | Array) for part in value):
            inner = [_rows(part) for part in value]
            if len(inner) > STEP_ROWS or any(rows is None or len(rows) != 1 for rows in inner):
                return None
            return [rows[0] for rows in inner if rows]
        words = [word for part in value if (word := _word(part)) is not None]
        return [words] if len(words) == len(value) <= STEP_COLUMNS else None
    word = _word(value)
    return None if word is None else [[word]]


def _word(value: Value) -> float | str | None:
    # A longer text, or several words, does not fit into a table of numbers.
    if isinstance(value, str) and 0 < len(value) <= 24 and value.split() == [value]:
        return value
    return float(value) if isinstance(value, bool | int | float) else None


def _equal(found: float | str, word: str) -> bool:
    """Say whether a number is the one that is written on paper, up to its last digit."""
    if isinstance(found, str):
        return found == word
    if word in _BOOLEAN:
        return found == _BOOLEAN[word]
    match = _NUMBER.fullmatch(word)
    if match is None:
        return False
    unit = 10.0 ** (int(match[2] or 0) - len(match[1] or ""))
    most = ROUNDING * unit / 2 if match[1] else WHOLE
    return abs(found - float(word)) <= most


def _written(found: float | str, word: str) -> str:
    """Write a number in the digits of one on paper, and in more if it would look the same."""
    if isinstance(found, str):
        return found
    for mark, number in _BOOLEAN.items():
        if word in _BOOLEAN and found == number:
            return mark
    match = _NUMBER.fullmatch(word)
    digits = len(match[1] or "") if match else 0
    if match and match[2]:
        mantissa, _, exponent = f"{found:.{digits}e}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    whole = match is None or not match[1]
    text = f"{found:.6g}" if whole or abs(found) > LARGEST else f"{found:.{digits}f}"
    text = f"{found:.6g}" if text == word else text
    return text.removeprefix("-") if not text.strip("-0.") else text
