"""Make a student's kit, or examine one, and refuse it if it would leak a solution or a secret."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.grading import OnProgress
from autograder.authoring.leaks import Gate, Leak, files_in, files_of
from autograder.authoring.leaks_secrets import SHORTEST_SEED, CatalogueError, StubError, grading_seed, secrets_of
from autograder.authoring.release import ReleaseError, complete, earlier_files, texts_of, write_kit
from autograder.course import Course, Exercise
from autograder.course.hunts import HuntFile, kit_hunts, nothing_to_hunt
from autograder.course.kit_files import KEY_FOLDER
from autograder.course.names import UsageError
from autograder.course.suite import load_suite


@dataclass(frozen=True)
class Release:
    """The files of a kit by their paths, and its leaks: it is written only if there are none."""

    files: Mapping[str, bytes]
    leaks: Sequence[Leak]

    @property
    def size(self) -> str:
        return _megabytes(self.files.values())

    @property
    def key_size(self) -> str:
        """Return the size of the answer key as text."""
        return _megabytes(data for name, data in self.files.items() if name.startswith(f"{KEY_FOLDER}/"))


def release_kit(
    course: Course,
    folder: Path,
    *,
    jobs: int,
    on_keys: OnProgress,
    hunted: Sequence[HuntFile] = (),
) -> Release:
    """Write a kit to a folder if it leaks nothing. `on_keys(done, all)` follows the answer keys, `jobs` at a time.

    Texts are searched before any key is made, as keys take minutes. `hunted` has the programs to practise on that go
    into the kit. Raises `UsageError` for a course that cannot be released.
    """
    try:
        gate = Gate(secrets_of(course))
        suite = load_suite(course)
        named = [programs.exercise for programs in hunted]
        names = _hunt_files(course, [course.exercise(name) for name in named])
        hunts = dict(zip(names, (_fit(gate, one, named).to_json().encode() for one in hunted), strict=True))
        files: dict[str, bytes] = texts_of(course, hunts)
        leaks = gate.leaks(files_of(files, folder), named, hunts)
        if not leaks:
            searched, files = files, complete(suite, files, jobs=jobs, on_keys=on_keys)
            leaks = gate.leaks((name, data) for name, data in files.items() if searched.get(name) is not data)
        if not leaks:
            write_kit(files, folder)
    except (ReleaseError, StubError, CatalogueError) as error:
        raise UsageError(str(error)) from error
    return Release(files, leaks)


def require_folder(folder: Path) -> None:
    """Raise `UsageError` if a kit cannot be written to a folder: a command says so before it makes any key."""
    try:
        earlier_files(folder)
    except ReleaseError as error:
        raise UsageError(str(error)) from error


def _fit(gate: Gate, programs: HuntFile, named: Sequence[str]) -> HuntFile:
    """Return the programs without those that have lines of exercises which are not named.

    Raises `UsageError` if none is left.
    """
    if not programs.hunts:
        raise UsageError(nothing_to_hunt(programs))
    right = {name: text for name, text in programs.right.items() if not _leaks(gate, text, named)}
    hunts = tuple(one for one in programs.hunts if one.variant in right and not _leaks(gate, one.source, named))
    if not hunts:
        raise UsageError(
            f"every program to practise {programs.exercise} on has lines of another exercise; name that one too"
        )
    return HuntFile(programs.exercise, right, hunts)


def _leaks(gate: Gate, text: str, named: Sequence[str]) -> bool:
    return bool(gate.leaks([("program.py", text.encode())], named, ["program.py"]))


def examine_kit(course: Course, folder: Path, hunted: Sequence[Exercise] = ()) -> Sequence[Leak]:
    """Return the leaks of a kit, in which programs of the `hunted` exercises may be.

    Raises `UsageError` if there is no such folder.
    """
    try:
        gate = Gate(secrets_of(course))
    except (StubError, CatalogueError) as error:
        raise UsageError(str(error)) from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; give the kit that is to be looked through")
    return gate.leaks(files_in(folder), [exercise.id for exercise in hunted], _hunt_files(course, hunted))


def _hunt_files(course: Course, exercises: Sequence[Exercise]) -> list[str]:
    return [kit_hunts(course, exercise).relative_to(course.root).as_posix() for exercise in exercises]


def seed_warning(course: Course) -> str:
    """Return a warning if the seed of grading is easy to guess, else ""."""
    seed = grading_seed(course)
    if seed is None or (len(seed) >= SHORTEST_SEED and seed != str(course.seed)):
        return ""
    remedy = "remove .course/grading_seed, and `course grade` makes another one"
    return f"the seed of grading, {seed}, is no secret: {remedy}"


def _megabytes(parts: Iterable[bytes]) -> str:
    return f"{sum(map(len, parts)) / 1e6:.1f} MB"
