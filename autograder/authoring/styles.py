"""Calibrate diagnoses: wrong programs whose faulty line is known, as accepted variants with one change each.

The catalogue of misconceptions changes the solution alone. Learners write in other styles, as the variants do. A whole
accepted course may have a file beside each exercise that writes misconceptions of the catalogue into it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.answer_key.catalogue import read_ported
from autograder.authoring.grading import OnProgress, grade_each
from autograder.authoring.mutation.mutants import mutants_of
from autograder.authoring.places import faulty_lines
from autograder.authoring.programs import WHOLE, Program, catalogue_of, programs_of, wrong_submissions
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.judge.budget import Budget
from autograder.results import ExerciseResult, Finding
from autograder.submission import Submission
from autograder.submission.submission import digest


@dataclass(frozen=True)
class Wrong:
    """A wrong program: its exercise, the kind of its mistake, its files and its faulty lines.

    `names` are the misconceptions that it may be called rightly, if that is known.
    """

    exercise: Exercise
    kind: str
    submission: Submission
    lines: frozenset[int]
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Sample:
    """What a check said of a wrong program. Its location is right, elsewhere, or nowhere.

    Whether a name is false is None where nobody knows the right ones.
    """

    exercise: str
    kind: str
    caught: bool
    named: bool = False
    named_falsely: bool | None = None
    place: str = "nowhere"
    certain: bool = False
    proved: bool = False


@dataclass(frozen=True)
class Calibration:
    """Counts of programs: all, those caught, and of these the named ones, by where the diagnosis points.

    `named_falsely` is None if no right names are known. `sure_elsewhere` has another line and no *probably*;
    `proved_elsewhere` a proof of another line.
    """

    name: str
    programs: int
    caught: int
    named: int
    right: int
    nowhere: int
    sure_elsewhere: int
    proved: int
    proved_elsewhere: int
    named_falsely: int | None = None

    @classmethod
    def of(cls, name: str, samples: Sequence[Sample]) -> "Calibration":
        """Count samples."""
        caught = [sample for sample in samples if sample.caught]
        elsewhere = [sample for sample in caught if sample.place == "elsewhere"]
        judged = [sample for sample in samples if sample.named_falsely is not None]
        return cls(
            name,
            len(samples),
            len(caught),
            sum(sample.named for sample in caught),
            sum(sample.place == "right" for sample in caught),
            sum(sample.place == "nowhere" for sample in caught),
            sum(sample.certain for sample in elsewhere),
            sum(sample.proved for sample in caught),
            sum(sample.proved for sample in elsewhere),
            None if not judged else sum(sample.named_falsely is True for sample in judged),
        )


def calibrate(
    suite: Suite,
    programs: Iterable[Wrong],
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    budget: Budget | None = None,
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> list[Sample]:
    """Check every Nth wrong program; with a `budget` as its writer would, with a search for a proof."""
    wrong = list(programs)[::every]
    asked = [(program.submission, [program.exercise]) for program in wrong]
    reports = grade_each(suite, asked, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress, budget=budget)
    return [_sample(program, report.exercises[0]) for program, report in zip(wrong, reports, strict=True)]


def tables(samples: Sequence[Sample]) -> list[list[Calibration]]:
    """Return the counts by exercise, and by kind of mistake, each with a last row for all."""
    whole = Calibration.of("all", samples)
    return [
        [*(Calibration.of(name, [s for s in samples if getattr(s, by) == name]) for name in names), whole]
        for by, names in (
            ("exercise", sorted({sample.exercise for sample in samples})),
            ("kind", sorted({sample.kind for sample in samples})),
        )
    ]


def misconceptions(suite: Suite) -> Iterator[Wrong]:
    """Yield the misconceptions of the suite."""
    for exercise, submission in wrong_submissions(suite):
        solution = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
        wrong = submission.sources[exercise.file].decode("utf-8")
        yield Wrong(exercise, "misconception", submission, faulty_lines(solution, wrong))


def wrong_programs(suite: Suite, variants: str = "") -> Iterator[Wrong]:
    """Yield every accepted variant whose name begins with `variants`, with one change each."""
    for exercise, program, right in _accepted(suite, variants):
        for mutant in mutants_of(right, exercise.number):
            yield _wrong(suite, exercise, program, mutant.operator, f"{exercise.id}, {mutant.id}", mutant.source)


def ported(suite: Suite) -> Iterator[Wrong]:
    """Yield the misconceptions that are written into whole accepted courses; their kind is the name of the course.

    Raises `CatalogueError`.
    """
    for exercise, program, right in _accepted(suite, WHOLE):
        known = {entry.id: frozenset((entry.id, *entry.same_as)) for entry in catalogue_of(suite, exercise)}
        file = suite.course.solutions_dir / "accepted" / program.name / f"{exercise.id}.toml"
        for id_, source in read_ported(file, right, known).items():
            wrong = _wrong(suite, exercise, program, program.name.removeprefix(WHOLE), id_, source)
            yield replace(wrong, names=known[id_])


def _accepted(suite: Suite, variants: str) -> Iterator[tuple[Exercise, Program, str]]:
    """Yield the accepted variants whose names begin so, with their exercise and its text."""
    for exercise in suite.exercises:
        for program in programs_of(suite, exercise):
            if program.kind == "accepted" and program.name.startswith(variants):
                yield exercise, program, program.sources[exercise.file].decode("utf-8")


def _wrong(suite: Suite, exercise: Exercise, program: Program, kind: str, name: str, source: str) -> Wrong:
    """Return an accepted variant with a wrong text in its place."""
    sources = {**program.sources, exercise.file: source.encode()}
    submission = Submission(f"{program.name}, {name}", suite.course.files, sources, digest(sources), ())
    right = program.sources[exercise.file].decode("utf-8")
    return Wrong(exercise, kind, submission, faulty_lines(right, source))


def _sample(program: Wrong, result: ExerciseResult) -> Sample:
    failure = result.first_failure
    exercise, kind = program.exercise.id, program.kind
    if failure is None:
        return Sample(exercise, kind, caught=False, named_falsely=False if program.names else None)
    named = failure.mistake is not None
    falsely = named and failure.mistake not in program.names if program.names else None
    caught = _is_caught(result) or (named and falsely is False)  # of a bonus, a known mistake is caught too
    sample = Sample(exercise, kind, caught=caught, named=named, named_falsely=falsely)
    if (finding := failure.finding) is None or (place := finding.place) is None:
        return sample
    is_right = place.file == program.exercise.file and place.line in program.lines
    return replace(
        sample,
        place="right" if is_right else "elsewhere",
        certain=_is_sure(finding),
        proved=finding.proved,
    )


def _is_caught(result: ExerciseResult) -> bool:
    return any(check.status != "pass" and not check.bonus for check in result.checks)


def _is_sure(finding: Finding) -> bool:
    """Whether a finding says of its line that it is the wrong one, rather than that a result is returned there."""
    return finding.proved or (finding.certain and bool(finding.label or finding.known_as))


def cells(table: Iterable[Calibration]) -> Iterator[list[str]]:
    """Yield the rows of a table as cells: the heads first."""
    heads = (
        "",
        "programs",
        "caught",
        "named",
        "named falsely",
        "line found",
        "no line",
        "sure, elsewhere",
        "proved",
        "proved elsewhere",
    )
    yield list(heads)
    for row in table:
        falsely = "?" if row.named_falsely is None else row.named_falsely
        counts = (row.programs, row.caught, row.named, falsely, row.right, row.nowhere)
        yield [row.name, *map(str, (*counts, row.sure_elsewhere, row.proved, row.proved_elsewhere))]
