"""The programs that prove a course: solutions, stubs, misconceptions, accepted variants and empty programs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from autograder.answer_key.catalogue import WrongProgram, patched, read_catalogue
from autograder.authoring.empty import empty_programs
from autograder.course import Exercise
from autograder.course.stubs import make_stub
from autograder.course.suite import Suite
from autograder.submission import Submission
from autograder.submission.submission import digest

WHOLE = "whole/"
"""How the name of a variant begins that is a whole course, in one style."""

Kind = Literal["solution", "stub", "misconception", "accepted", "reference parts", "empty"]


@dataclass(frozen=True)
class Program:
    """A program with a known outcome, and its exercise."""

    kind: Kind
    exercise: str
    name: str
    sources: Mapping[str, bytes]
    same_as: tuple[str, ...] = ()
    reference_parts: Mapping[str, bytes] = field(default_factory=dict)


def programs_of(suite: Suite, exercise: Exercise) -> Iterable[Program]:
    """Yield every program of an exercise with a known outcome."""
    course = suite.course
    needs = course.with_all_needs(exercise)
    base = {needed.file: (course.solutions_dir / needed.file).read_bytes() for needed in needs}
    solution = base[exercise.file].decode("utf-8")
    yield Program("solution", exercise.id, exercise.id, base)
    yield Program("stub", exercise.id, exercise.id, {**base, exercise.file: make_stub(solution, exercise).encode()})
    for misconception in catalogue_of(suite, exercise):
        wrong = {**base, exercise.file: patched(solution, misconception).encode()}
        yield Program("misconception", exercise.id, misconception.id, wrong, misconception.same_as)
    for file in sorted((course.solutions_dir / "accepted" / exercise.id).glob("*.py")):
        yield Program("accepted", exercise.id, file.stem, {**base, exercise.file: file.read_bytes()})
    for folder in sorted((course.solutions_dir / "accepted" / "whole").glob("*/")):
        whole = {file: (folder / file).read_bytes() for file in course.files if (folder / file).is_file()}
        if exercise.file in whole:
            yield Program("accepted", exercise.id, f"{WHOLE}{folder.name}", {**base, **whole})
    parts = {
        needed.file: suite.reference_parts[needed.file] for needed in needs[:-1] if needed.file in suite.reference_parts
    }
    if parts:
        yield Program("reference parts", exercise.id, exercise.id, base, reference_parts=parts)
    for family, text in empty_programs(solution, with_tensors=course.computes_with_tensors):
        yield Program("empty", exercise.id, family, {**base, exercise.file: text.encode()})


def wrong_submissions(suite: Suite) -> Iterator[tuple[Exercise, Submission]]:
    """Yield each misconception of the suite in an otherwise right submission, with its exercise."""
    course = suite.course
    needed = {file for exercise in suite.exercises for file in (part.file for part in course.with_needs(exercise))}
    solutions = {file: (course.solutions_dir / file).read_bytes() for file in course.files if file in needed}
    for exercise in suite.exercises:
        for misconception in catalogue_of(suite, exercise):
            wrong = patched(solutions[exercise.file].decode("utf-8"), misconception)
            sources = {**solutions, exercise.file: wrong.encode()}
            yield exercise, Submission(misconception.id, course.files, sources, digest(sources), ())


def catalogue_of(suite: Suite, exercise: Exercise) -> tuple[WrongProgram, ...]:
    """Return the misconceptions of an exercise."""
    solutions = suite.course.solutions_dir
    return read_catalogue(
        solutions / "misconceptions" / f"{exercise.id}.toml", (solutions / exercise.file).read_text("utf-8")
    )
