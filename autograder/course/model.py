"""The course, its exercises and their limits, as frozen types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Literal

Words = Mapping[str, tuple[str, ...]]
"""What the axes of a size count, by the symbol of the size: a word, and others for where the first is taken."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use: per trial of a check, and for a worker as a whole."""

    cpu_seconds: int = 10
    wall_seconds: int = 30
    memory_mib: int = 2048
    output_kib: int = 4096
    source_kib: int = 256


@dataclass(frozen=True)
class Exercise:
    """One exercise. `points` are whole hundredths; `needs` are the exercises its code may import.

    `hints` has three hints for each check, from a question to the step; `forbidden` has the calls that would skip
    the exercise, as dotted names; `words` say what its axes count, where the course's own words do not fit. `built`
    says in one line what who passes has built.
    """

    id: str
    title: str
    points: int
    needs: tuple[str, ...]
    hints: Mapping[str, tuple[str, str, str]]
    forbidden: tuple[str, ...]
    words: Words = field(default_factory=dict)
    built: str | None = None

    @property
    def number(self) -> str:
        """The two digits of the id: `05` of `ex05_attention`."""
        return self.id[2:4]

    @property
    def file(self) -> str:
        """The name of the stub, of the solution and of the student's file."""
        return f"{self.id}.py"


@dataclass(frozen=True)
class Grading:
    """What a gradebook makes of the scores. A verdict depends on none of it.

    `due` is a time on the clocks of `zone`. Every started day after it and the minutes of grace costs `late_percent`
    of the maximum or of the student's own score, `late_most` percent at most; after `late_days` such days nothing
    counts. What is earned in a `bonus` exercise adds to the score, and the maximum leaves it out.
    """

    due: datetime | None = None
    zone: tzinfo = UTC
    grace_minutes: int = 0
    late_percent: Decimal = Decimal(0)
    late_of: Literal["max", "score"] = "max"
    late_most: Decimal = Decimal(100)
    late_days: int | None = None
    bonus: tuple[str, ...] = ()


Value = str | int | float
"""What an option of an activity takes; one that is a bool is a flag."""


@dataclass(frozen=True)
class Choice:
    """An option that one activity has, beside those of all: its name, its default, and what it does."""

    name: str
    default: Value
    does: str


@dataclass(frozen=True)
class Activity:
    """Something to do with finished exercises: play/ID.py of the course, run on the student's own parts.

    `needs` are the exercises it calls.
    """

    id: str
    title: str
    needs: tuple[str, ...]
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Course:
    """A course and where its parts lie. `sizes` has a column of axis sizes for each trial, `words` what they count."""

    root: Path
    title: str
    seed: int
    limits: Limits
    sizes: tuple[Mapping[str, int], ...]
    exercises: tuple[Exercise, ...]
    words: Words = field(default_factory=dict)
    grading: Grading | None = None
    play: tuple[Activity, ...] = ()

    @property
    def exercises_dir(self) -> Path:
        return self.root / "exercises"

    @property
    def solutions_dir(self) -> Path:
        return self.root / "solutions"

    @property
    def play_dir(self) -> Path:
        return self.root / "play"

    @property
    def checks_dir(self) -> Path:
        return self.root / "tests" / "exercises"

    @property
    def reference_parts_dir(self) -> Path:
        """Where the compiled reference parts are: students get them."""
        return self.checks_dir / "reference_parts"

    @property
    def part_sources_dir(self) -> Path:
        """Where the reference parts are written: students never get these files."""
        return self.solutions_dir / "reference_parts"

    @property
    def files(self) -> tuple[str, ...]:
        """The files a submission is made of."""
        return tuple(each.file for each in self.exercises)

    def exercise(self, exercise_id: str) -> Exercise:
        """Return the exercise of that id; it must exist."""
        return next(each for each in self.exercises if each.id == exercise_id)

    def words_of(self, exercise: Exercise) -> Words:
        """Return what the axes count in an exercise: its own words, and the course's for the others."""
        return {**self.words, **exercise.words}

    def with_needs(self, exercise: Exercise) -> tuple[Exercise, ...]:
        """Return an exercise and everything it needs, directly or not, in the course's order."""
        wanted = {exercise.id}
        for each in reversed(self.exercises):
            if each.id in wanted:
                wanted.update(each.needs)
        return tuple(each for each in self.exercises if each.id in wanted)

    def checks_file(self, exercise: Exercise) -> Path:
        """Where the checks of an exercise are written."""
        return self.checks_dir / f"test_{exercise.id}.py"
