"""The course, its exercises and their limits, as frozen types."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from autograder.protocol import Usual

from .storage import read_text
from .toml import nearest, unknown

Words = Mapping[str, tuple[str, ...]]
"""What an axis counts, by the symbol of its size: a word, and alternatives for when the first is already in use."""

Columns = tuple[Mapping[str, int], ...]
"""The sizes of the axes by symbol, one column for a trial."""

TENSORS = "torch"
"""The library that makes tensors."""

LINUX_ONLY = frozenset({"triton"})
"""Libraries that pip installs on Linux alone."""

HINTS = "tests/exercises/hints"
"""The folder with a file for each exercise: three hints for each check, and how to begin each TODO."""

STEPS_PREFIX = "try_"
"""How the file with the steps of a worked example begins, beside the checks, whose file begins with `test_`."""


@dataclass(frozen=True)
class Limits:
    """The resources a submission may use: CPU and wall seconds for a trial of a check, the rest for a worker."""

    cpu_seconds: int = 10
    wall_seconds: int = 30
    memory_mib: int = 2048
    output_kib: int = 4096
    source_kib: int = 256


@dataclass(frozen=True)
class Exercise:
    """One exercise. `points` are whole hundredths; `needs` are the exercises its code may import.

    `hints` has three hints for each check, from a question to the step. `forbidden` has the calls that would skip
    the exercise, as dotted names. `words` name what its axes count, where the course's own words do not fit. `built`
    describes in one line what a learner who passes has built. `start` has one to three texts for the TODOs of the stub,
    by name: how to begin. `minutes` is the author's estimate of the time that the exercise takes. `also` are other
    names by which a learner may call it. `libraries` are those that it needs beside the course's.
    """

    id: str
    title: str
    points: int
    needs: tuple[str, ...]
    hints: Mapping[str, tuple[str, str, str]]
    forbidden: tuple[str, ...]
    words: Words = field(default_factory=dict)
    built: str | None = None
    start: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    minutes: int | None = None
    also: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The libraries of its own that are not installed here. With any, it is not available."""
        return tuple(name for name in self.libraries if find_spec(name) is None)

    @property
    def number(self) -> str:
        """The two digits of the id: `05` of `ex05_attention`."""
        return self.id[2:4]

    @property
    def file(self) -> str:
        """The name of the stub, of the solution and of the student's file."""
        return f"{self.id}.py"


@dataclass(frozen=True)
class Part:
    """A part of a course: exercises that follow each other, by id, with sizes and words of their own if it has any."""

    id: str
    title: str
    exercises: tuple[str, ...]
    sizes: Columns = ()
    words: Words = field(default_factory=dict)


@dataclass(frozen=True)
class Grading:
    """How a gradebook turns scores into grades. No verdict depends on it.

    `due` is a local time of `zone`. Each started day after it, plus the minutes of grace, costs `late_percent` of the
    maximum or of the student's own score, at most `late_most` percent. After `late_days` such days nothing counts.
    Points of a `bonus` exercise add to the score, but not to the maximum. The `drop_lowest` exercises with the lowest
    share of their points do not count. `curve` maps percent of the maximum to percent, in straight lines between its
    points; without any the score stays as it is. In a term the `drop_assignments` lowest assignments do not count.
    """

    due: datetime | None = None
    zone: tzinfo = UTC
    grace_minutes: int = 0
    late_percent: Decimal = Decimal(0)
    late_of: Literal["max", "score"] = "max"
    late_most: Decimal = Decimal(100)
    late_days: int | None = None
    bonus: tuple[str, ...] = ()
    drop_lowest: int = 0
    curve: tuple[tuple[Decimal, Decimal], ...] = ()
    drop_assignments: int = 0


@dataclass(frozen=True)
class Assignment:
    """Exercises that are handed in together, by id, with a due date and rules of their own.

    `builds_on` says where earlier exercises come from that they need: the students' own, or the reference parts.
    `weight` is its share of the term, by default its points. `release` is a local time of the zone of `grading`.
    """

    id: str
    title: str
    exercises: tuple[str, ...]
    grading: Grading
    release: datetime | None = None
    builds_on: Literal["own", "reference"] = "own"
    weight: Decimal | None = None


Value = str | int | float
"""The type of an option's value; an option with a bool is a flag."""


@dataclass(frozen=True)
class Choice:
    """An option of one activity, in addition to those that all have: its name, its default, and its help text."""

    name: str
    default: Value
    does: str


@dataclass(frozen=True)
class Activity:
    """A program that uses finished exercises: play/ID.py of the course, run on the student's own code.

    `needs` are the exercises it calls. `milestones` are exercises after whose pass it is offered, each with a line that
    says why. An activity with milestones refuses nobody: reference parts stand in for what does not pass.
    """

    id: str
    title: str
    needs: tuple[str, ...]
    choices: tuple[Choice, ...] = ()
    milestones: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """A course and the paths of its files. `sizes` has a column of axis sizes per trial, `words` names the axes.

    `libraries` are the modules that its programs may use, and that a worker loads before them. `exercises` are those
    that the class takes: all, or what `take` names, without those whose own libraries are not installed here. If these
    are not all, `everything` has the others too.
    `assignment` is the one of `assignments` that this is about, if it is about one. `usual` is what its programs use.
    `license` is an SPDX expression, and "" if the course claims none. `authors` are the names of those who wrote it.
    """

    root: Path
    title: str
    seed: int
    limits: Limits
    sizes: Columns
    exercises: tuple[Exercise, ...]
    words: Words = field(default_factory=dict)
    grading: Grading | None = None
    play: tuple[Activity, ...] = ()
    questions: bool = True
    libraries: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    take: tuple[str, ...] = ()
    everything: tuple[Exercise, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    assignment: Assignment | None = None
    usual: Usual = field(default_factory=Usual)
    license: str = ""
    authors: tuple[str, ...] = ()

    @property
    def exercises_dir(self) -> Path:
        """Return the folder of the stubs, where a learner works."""
        return self.root / "exercises"

    @property
    def solutions_dir(self) -> Path:
        """Return the folder of the reference solutions."""
        return self.root / "solutions"

    @property
    def play_dir(self) -> Path:
        """Return the folder of the activities of `course play`."""
        return self.root / "play"

    @property
    def checks_dir(self) -> Path:
        """Return the folder of the checks."""
        return self.root / "tests" / "exercises"

    @property
    def reference_parts_dir(self) -> Path:
        """The folder of the compiled reference parts, which students get."""
        return self.checks_dir / "reference_parts"

    @property
    def part_sources_dir(self) -> Path:
        """The folder of the reference parts' sources, which students never get."""
        return self.solutions_dir / "reference_parts"

    @property
    def computes_with_tensors(self) -> bool:
        """Whether the programs of the course use torch: only then are there tensors, devices and modules."""
        return TENSORS in self.libraries

    @property
    def every_library(self) -> tuple[str, ...]:
        """The libraries of the course, and those that single exercises need which are taken."""
        return tuple(dict.fromkeys([*self.libraries, *(name for one in self.exercises for name in one.libraries)]))

    @property
    def every(self) -> tuple[Exercise, ...]:
        """Every exercise of course.toml, whether it is taken or not."""
        return self.everything or self.exercises

    @property
    def others(self) -> tuple[Exercise, ...]:
        """The exercises that the class does not take: students have no file of them."""
        taken = {exercise.id for exercise in self.exercises}
        return tuple(exercise for exercise in self.every if exercise.id not in taken)

    @property
    def files(self) -> tuple[str, ...]:
        """The files a submission consists of."""
        return tuple(exercise.file for exercise in self.exercises)

    def exercise(self, exercise_id: str) -> Exercise:
        """Return the exercise with that id; it must exist."""
        return next(exercise for exercise in self.every if exercise.id == exercise_id)

    def part_of(self, exercise: Exercise) -> Part | None:
        """Return the part that an exercise belongs to; None in a course without parts."""
        return next((part for part in self.parts if exercise.id in part.exercises), None)

    @property
    def sections(self) -> tuple[tuple[Part, tuple[Exercise, ...]], ...]:
        """The parts, each with its exercises that are taken; none if these are not of several parts."""
        pairs = [(part, tuple(ex for ex in self.exercises if ex.id in part.exercises)) for part in self.parts]
        sections = tuple((part, exercises) for part, exercises in pairs if exercises)
        return sections if len(sections) > 1 else ()

    def section_of(self, exercise: Exercise | None) -> tuple[str, tuple[Exercise, ...]]:
        """Return the exercises that progress is counted in, with words for them: those of the same part, or all."""
        for part, exercises in self.sections:
            if exercise in exercises:
                return f"of part {part.id} ", exercises
        return "", self.exercises

    def sizes_of(self, exercise: Exercise) -> Columns:
        """Return the sizes for the checks of an exercise: those of its part, or else of the course."""
        part = self.part_of(exercise)
        return part.sizes if part is not None and part.sizes else self.sizes

    def words_of(self, exercise: Exercise) -> Words:
        """Return the words for the axes of an exercise: its own, then those of its part and of the course."""
        part = self.part_of(exercise)
        return {**self.words, **(part.words if part is not None else {}), **exercise.words}

    def with_needs(self, exercise: Exercise) -> tuple[Exercise, ...]:
        """Return an exercise and everything it needs that is taken, directly or not, in the course's order."""
        wanted = {needed.id for needed in self.with_all_needs(exercise)}
        return tuple(earlier for earlier in self.exercises if earlier.id in wanted)

    def with_all_needs(self, exercise: Exercise) -> tuple[Exercise, ...]:
        """Return an exercise and everything it needs, taken or not, in the course's order."""
        wanted = {exercise.id}
        for earlier in reversed(self.every):
            if earlier.id in wanted:
                wanted.update(earlier.needs)
        return tuple(earlier for earlier in self.every if earlier.id in wanted)

    def used_by(self, activity: Activity) -> tuple[Exercise, ...]:
        """Return the exercises that an activity uses, taken or not, in the course's order."""
        named = [self.exercise(id_) for id_ in (*activity.needs, *activity.milestones)]
        used = {needed.id for exercise in named for needed in self.with_all_needs(exercise)}
        return tuple(exercise for exercise in self.every if exercise.id in used)

    def checks_file(self, exercise: Exercise) -> Path:
        """Return the file with the checks of an exercise."""
        return self.checks_dir / f"test_{exercise.id}.py"

    def hints_file(self, exercise: Exercise) -> Path:
        """Return the file with the hints of an exercise, which is optional."""
        return self.root / HINTS / f"{exercise.id}.toml"

    def catalogue_file(self, exercise: Exercise) -> Path:
        """Return the file with the misconceptions of an exercise, which is optional."""
        return self.solutions_dir / "misconceptions" / f"{exercise.id}.toml"

    def steps_file(self, exercise: Exercise) -> Path:
        """Return the file with the steps of the lesson's worked example, which is optional."""
        return self.checks_dir / f"{STEPS_PREFIX}{exercise.id}.py"


def numbers_of(exercises: Sequence[Exercise]) -> str:
    """Return the numbers of exercises in words, as `exercise_numbers` does."""
    return exercise_numbers([exercise.number for exercise in exercises])


def exercise_numbers(numbers: Sequence[str]) -> str:
    """Return numbers in words, with `to` for three or more in a row: `exercises 05, 12 to 23 and 26`."""
    rows: list[list[str]] = []
    for number in numbers:
        before = rows[-1][-1] if rows else ""
        if number.isdigit() and before.isdigit() and int(number) == int(before) + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    *first, last = (span for row in rows for span in ([f"{row[0]} to {row[-1]}"] if len(row) > 2 else row))
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"exercise {listed}" if len(numbers) == 1 else f"exercises {listed}"


# Resolve the short names of exercises that people type on a command line.

LONGEST_NUMBER = 6
"""Digits. Longer numbers are no slip of the keyboard."""

_LIST = "`course list` shows all exercises."


class UsageError(Exception):
    """A command was used in a way it does not support; the message says what to type instead."""


def resolve_exercise(course: Course, word: str) -> Exercise:
    """Return the exercise that a word names: `5`, `05`, `ex05`, `attention`, `ex05_attention`, a prefix, or `also`.

    If it is none of these, words of the title are enough. Raises `UsageError` if they fit no exercise, or several.
    """
    typed = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    exact = [exercise for exercise in course.exercises if typed in _names(exercise) or typed in exercise.also]
    by_prefix = [
        exercise
        for exercise in course.exercises
        if typed and any(name.startswith(typed) for name in (*_words(exercise), *exercise.also))
    ]
    by_title = [exercise for exercise in course.exercises if _is_in_title(exercise, typed)]
    matches = exact or by_prefix or by_title
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"{word!r} could be {', '.join(exercise.id for exercise in matches)}; write more of the name")
    for exercise in course.others:
        if exercise.missing and typed in {*_names(exercise), *exercise.also}:
            raise UsageError(_unavailable(exercise))
    raise UsageError(_unknown_exercise(course, word, typed))


def left_out(course: Course) -> str:
    """Return a sentence for each exercise that the class takes and that lacks a library here; "" if there is none."""
    taken = {id_ for part in course.parts if part.id in course.take for id_ in part.exercises} | {*course.take}
    lacking = [exercise for exercise in course.others if exercise.missing]
    return "\n".join(_unavailable(exercise) for exercise in lacking if not course.take or exercise.id in taken)


def _unavailable(exercise: Exercise) -> str:
    where = "on Linux, install it" if LINUX_ONLY.intersection(exercise.missing) else "install it"
    needs = f"it needs {' and '.join(exercise.missing)}, which is not installed"
    return f"{exercise.id} is left out and does not count: {needs}; {where}: pip install {' '.join(exercise.missing)}"


def is_number(word: str) -> bool:
    """Say whether a word is a number as exercises have them: `7`, `07` or `ex07`."""
    digits = word.strip().lower().removeprefix("ex")
    return digits.isdecimal() and len(digits) <= LONGEST_NUMBER


def _unknown_exercise(course: Course, word: str, typed: str) -> str:
    """Return the sentences for a word that names no exercise: for a number outside the course, its numbers."""
    numbers = [int(exercise.number) for exercise in course.exercises]
    is_whole = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1))
    if is_number(typed) and is_whole:
        count = f"There are {len(numbers)} exercises: {numbers[0]} to {numbers[-1]}."
        return unknown("exercise", word, more=f"{count} {_LIST}")
    if used := [one for one in course.exercises if _is_text(typed) and _is_in_lesson(course, one, typed)]:
        return unknown("exercise", word, more=f"You find this word in {numbers_of(used)}. {_LIST}")
    near = _nearest(course, typed)
    return unknown("exercise", word, [near.id if near else None], more=_LIST)


def names_of(exercise: Exercise) -> list[str]:
    """Return what an exercise can be called, the shortest name first and its id last."""
    id_, name = _words(exercise)
    return [*sorted(_names(exercise) - {id_, name}, key=lambda word: (len(word), word)), name, id_]


def _words(exercise: Exercise) -> tuple[str, str]:
    """Return the id and the id without its number."""
    return exercise.id, exercise.id.split("_", 1)[1]


def _is_text(typed: str) -> bool:
    return typed != "" and not is_number(typed)


def _is_in_title(exercise: Exercise, typed: str) -> bool:
    """Say whether an exercise's title or id has all words that somebody typed, or words that begin with them."""
    own = re.findall(r"[^\W_]+", f"{exercise.id} {exercise.title}".lower())
    return _is_text(typed) and all(any(one.startswith(word) for one in own) for word in typed.split("_"))


def _is_in_lesson(course: Course, exercise: Exercise, typed: str) -> bool:
    """Say whether the comments of an exercise's file have the words that somebody typed."""
    try:
        lines = read_text(course.exercises_dir / exercise.file, below=course.root).lower().splitlines()
    except (OSError, ValueError):
        return False
    lesson = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return re.search(rf"\b{re.escape(typed).replace('_', '[ _-]')}\b", lesson) is not None


def _names(exercise: Exercise) -> set[str]:
    digits = {exercise.number, str(int(exercise.number))}
    return {*_words(exercise), *digits, *(f"ex{number}" for number in digits)}


def _nearest(course: Course, typed: str) -> Exercise | None:
    """Return the exercise with the nearest number if a number was typed, else the one with the most similar name."""
    if is_number(typed):
        number = int(typed.removeprefix("ex"))
        return min(course.exercises, key=lambda exercise: abs(int(exercise.number) - number), default=None)
    words = {word: exercise for exercise in course.exercises for word in (*_words(exercise), *exercise.also)}
    near = nearest(typed, words)
    return words[near] if near else None
