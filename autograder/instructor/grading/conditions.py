"""The conditions a report depends on, as digests, so that a later run can keep reports that still stand."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.digest import digest_of_parts
from autograder.course.libraries import versions_of
from autograder.course.suite import engine_digest, suite_digest, suite_files
from autograder.results.model import SCHEMA
from autograder.submission import Caps, Submission
from autograder.submission.class_entry import Entry


@dataclass(frozen=True)
class Conditions:
    """Everything except the submission that decides a report.

    `exercises` has a digest for each exercise of everything its result depends on, without its points. `runtime` has
    the versions that numbers and messages depend on. `checks` has a digest for each exercise of what decides its marks
    in the course: neither the engine nor texts nor misconceptions are part of it. `intake` is the digest of everything
    that reading a submission depends on. `files` has the size and modification time of the course's files.
    """

    course: Course
    suite: str
    seed: int
    device: str
    isolation: str
    runtime: Mapping[str, str]
    exercises: Mapping[str, str]
    checks: Mapping[str, str]
    intake: str
    files: Mapping[Path, tuple[int, int]]

    def run(self, submission: Submission) -> str:
        """Return the digest of everything that a student's report depends on."""
        return _sha256(repr((self.basis, *submission_facts(submission).items())).encode())

    @cached_property
    def basis(self) -> str:
        """The digest of everything that all reports depend on together."""
        return _sha256(repr((SCHEMA, self.course.title, self.suite, *self._common)).encode())

    def of_exercises(self, submission: Submission) -> dict[str, str]:
        """Return, for each exercise, the digest of everything its result depends on, without its points."""
        left_out = (sorted(submission.unread.items()), submission.unseen) if submission.missing else ()
        doubts = [sorted(some.items()) for some in (submission.doubts, submission.left) if some]
        common = (*self._common, submission.digest, *left_out, *doubts)
        return {id_: _sha256(repr((*common, digest)).encode()) for id_, digest in self.exercises.items()}

    @property
    def _common(self) -> tuple[object, ...]:
        return self.seed, self.device, self.isolation, sorted(self.runtime.items())

    def read(self, entry: Entry) -> Submission:
        """Read a submission within the limits of the course."""
        return entry.read(self.course.files, _caps(self.course))

    def touched(self) -> bool:
        """Return whether a file of the course was written since, perhaps with the same content."""
        return _stamps(self.course) != self.files

    def to_json(self) -> dict[str, object]:
        """Return the content of run.json: enough to grade again, and to refuse the merge of different runs."""
        return {
            "schema": SCHEMA,
            "course": self.course.title,
            "seed": self.seed,
            "device": self.device,
            "isolation": self.isolation,
            "suite": self.suite,
            "runtime": dict(self.runtime),
            "exercises": list(self.exercises),
            "checks": dict(self.checks),
        }


def submission_facts(submission: Submission) -> dict[str, object]:
    """Return what the report of a submission says about it."""
    facts = {"student": submission.student, "digest": submission.digest, "notes": list(submission.notes)}
    return {**facts, **({"found": list(submission.found)} if submission.held else {})}


def conditions_of(course: Course, *, seed: int, device: str, isolation: str) -> Conditions:
    """Return the current conditions of a course; its files are read, but no code in them runs.

    Raises OSError if a file cannot be read.
    """
    files = _stamps(course)
    checks = checks_of(course)
    return Conditions(
        course=course,
        suite=suite_digest(course),
        seed=seed,
        device=device,
        isolation=isolation,
        runtime=runtime(course.libraries),
        exercises=_exercises(course, checks),
        checks=checks,
        intake=_intake(course),
        files=files,
    )


def runtime(libraries: Sequence[str]) -> dict[str, str]:
    """Return the versions that results and exception messages depend on."""
    return {"python": ".".join(map(str, sys.version_info[:2])), **versions_of(libraries)}


def checks_of(course: Course) -> dict[str, str]:
    """Return a digest for each exercise of what decides its marks; helpers beside the checks count for all of them.

    The checks and solutions of the exercises it needs count too: they decide whether reference parts are used.
    """
    checks = {course.checks_file(exercise) for exercise in course.every}
    helpers = [file for file in sorted(course.checks_dir.glob("*.py")) if file not in checks]
    common = [repr(asdict(course.limits)).encode(), *map(_file, helpers)]
    return {exercise.id: _checks(course, exercise, common) for exercise in course.exercises}


def _checks(course: Course, exercise: Exercise, common: list[bytes]) -> str:
    needed = course.with_all_needs(exercise)
    rules = [(part.id, part.needs, part.forbidden, course.sizes_of(part)) for part in needed]
    files = []
    for part in needed:
        files += [course.checks_file(part), course.solutions_dir / part.file]
        files += [course.reference_parts_dir / f"{part.id}.json"] if part is not exercise else []
    return _sha256(*common, repr(rules).encode(), *map(_file, files))


def _exercises(course: Course, checks: Mapping[str, str]) -> dict[str, str]:
    """Return a digest for each exercise of everything its result depends on: marks, messages and names of mistakes."""
    engine = engine_digest()
    return {exercise.id: _exercise(course, exercise, engine, checks[exercise.id]) for exercise in course.exercises}


def _exercise(course: Course, exercise: Exercise, engine: bytes, checks: str) -> str:
    texts = (exercise.title, sorted(exercise.hints.items()), sorted(course.words_of(exercise).items()))
    catalogue = course.solutions_dir / "misconceptions" / f"{exercise.id}.toml"
    return _sha256(engine, checks.encode(), repr(texts).encode(), _file(catalogue))


def _intake(course: Course) -> str:
    code = sorted((Path(__file__).parents[2] / "submission").glob("*.py"))
    return _sha256(repr((course.files, asdict(_caps(course)))).encode(), *map(_file, code))


def _stamps(course: Course) -> dict[Path, tuple[int, int]]:
    stats = {file: file.stat() for file in suite_files(course)}
    return {file: (stat.st_size, stat.st_mtime_ns) for file, stat in stats.items()}


def _caps(course: Course) -> Caps:
    return Caps(source_kib=course.limits.source_kib)


def _file(file: Path) -> bytes:
    """Return the name and content of a file; empty if it is missing."""
    try:
        return file.name.encode() + b"\0" + file.read_bytes()
    except FileNotFoundError:
        return b""


def _sha256(*parts: bytes) -> str:
    return f"sha256:{digest_of_parts(parts)}"
