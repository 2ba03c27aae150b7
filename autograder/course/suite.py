"""A course with its checks: the trials to run, their points, and the digest that verdicts depend on."""

import hashlib
import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType

from autograder import checks as language
from autograder.checks import (
    Check,
    DeclarationError,
    Drawing,
    Key,
    Step,
    checks_in,
    declaration_problems,
    pictures_in,
    steps_in,
)
from autograder.formats import REFERENCE_PART
from autograder.protocol import Outline

from .course import HINTS, STEPS_PREFIX, Course, Exercise
from .files import outline_of_stub
from .reader import split
from .storage import read_plain, require
from .toml import suggestion

JUDGES = (
    *("checks", "protocol", "edits", "worker", "sandbox", "runner", "comparison", "answer_key", "results"),
    *("diagnosis", "judge", "course/suite.py"),
)
"""The rooms that make and judge observations: verdicts depend on their code, so it is part of every digest."""


class SuiteError(Exception):
    """The checks of a course cannot be used; the message is a sentence for the course's author."""


@dataclass(frozen=True)
class Suite:
    """The checks of some exercises of a course, and their source as it is sent to a worker.

    `reference_parts` are data, by the name of the file they replace if the student's is wrong or unfinished. `stubs`
    are the outlines of the stubs, by exercise.
    """

    course: Course
    checks: Mapping[str, tuple[Check, ...]]
    sources: Mapping[str, bytes]
    reference_parts: Mapping[str, bytes]
    pictures: Mapping[str, tuple[Drawing, ...]] = field(default_factory=dict)
    stubs: Mapping[str, Outline | None] = field(default_factory=dict)
    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(exercise for exercise in self.course.exercises if exercise.id in self.checks)

    def plan(self, exercises: Iterable[Exercise]) -> dict[str, list[Key]]:
        """Return every trial of every check of those exercises."""
        return {
            exercise.id: [(check.id, trial) for check in self.checks[exercise.id] for trial in range(check.trials)]
            for exercise in exercises
        }

    def points(self, exercise: Exercise) -> dict[str, int]:
        """Return the hundredths of a point each check is worth: the exercise's, split by the checks' shares.

        A bonus check is worth its share on top.
        """
        own = [check for check in self.checks[exercise.id] if not check.bonus]
        shares = [check.points for check in own]
        points = {check.id: worth for check, worth in zip(own, split(exercise.points, shares), strict=True)}
        bonus = [check for check in self.checks[exercise.id] if check.bonus]
        return points | {check.id: int(exercise.points * check.points / sum(shares)) for check in bonus}

    @property
    def digest(self) -> str:
        """The digest of everything a verdict depends on, beside the submission and the seed."""
        return suite_digest(self.course)


def suite_files(course: Course) -> list[Path]:
    """Return the files of a course that reports depend on: verdicts, and the hints beside them."""
    return [
        course.root / "course.toml",
        *sorted(file for file in course.checks_dir.rglob("*.py") if not file.name.startswith(STEPS_PREFIX)),
        *sorted((course.root / HINTS).glob("*.toml")),
        *sorted(course.reference_parts_dir.glob("*.json")),
        *sorted(course.solutions_dir.glob("*.py")),
        *sorted(course.solutions_dir.glob("misconceptions/*.toml")),
        *sorted(course.solutions_dir.glob("misconceptions/*/*.py")),
    ]


def suite_digest(course: Course) -> str:
    """Return the digest of the engine and the course's files as they are now. Raises OSError."""
    digest = hashlib.sha256(engine_digest())
    for file in suite_files(course):
        data = read_plain(file)
        digest.update(f"{file.name} {len(data)}\n".encode() + data)
    return f"sha256:{digest.hexdigest()}"


def files_of_rooms(*rooms: str) -> list[Path]:
    """Return the engine's files in these rooms or modules, or in `JUDGES`."""
    package = Path(__file__).parents[1]
    found = [[package / room] if room.endswith(".py") else (package / room).rglob("*.py") for room in rooms or JUDGES]
    return [file for files in found for file in files]


def engine_digest(*rooms: str) -> bytes:
    """Return the digest of the engine's code in these rooms, or in `JUDGES`. No path is part of it."""
    contents = sorted(hashlib.sha256(file.read_bytes()).digest() for file in files_of_rooms(*rooms))
    return hashlib.sha256(b"".join(contents)).digest()


def load_suite(course: Course, exercises: Iterable[Exercise] | None = None) -> Suite:
    """Read the checks of those exercises, or of the whole course. This runs the files with the checks.

    Raises `SuiteError`, and `Untrusted` if the user does not trust the course's folder.
    """
    require(course.root)
    checks: dict[str, tuple[Check, ...]] = {}
    sources: dict[str, bytes] = {}
    pictures: dict[str, tuple[Drawing, ...]] = {}
    stubs: dict[str, Outline | None] = {}
    wanted = tuple(exercises if exercises is not None else course.exercises)
    for exercise in wanted:
        file = course.checks_file(exercise)
        module = _module(file)
        checks[exercise.id] = _checks(file, module)
        pictures[exercise.id] = tuple(pictures_in(module))
        sources[file.name] = read_plain(file)
        stubs[exercise.id] = outline_of_stub(course, exercise)
    parts = {f"{file.stem}.py": _part(file) for file in sorted(course.reference_parts_dir.glob("*.json"))}
    _require_parts(course, wanted, parts)
    return Suite(course, checks, sources, parts, pictures, stubs)


def parts_of_others(course: Course) -> dict[str, bytes]:
    """Return the reference parts of the exercises that the class does not take, by file. Raises `SuiteError`."""
    files = {other.file: course.reference_parts_dir / f"{other.id}.json" for other in course.others}
    return {name: _part(file) for name, file in files.items() if file.is_file()}


def _require_parts(course: Course, exercises: Iterable[Exercise], parts: Mapping[str, bytes]) -> None:
    """Raise `SuiteError` if an exercise imports one that the class does not take and that has no reference part."""
    others = {other.id: other for other in course.others}
    for exercise in exercises:
        for need in exercise.needs:
            if need in others and others[need].file not in parts:
                raise SuiteError(
                    f"{exercise.id} needs {need}, which is not taken and has no reference part; "
                    f"take {need} too, or write solutions/reference_parts/{need}.py and run `course build`"
                )


def with_steps(suite: Suite) -> Suite:
    """Add the steps of the worked examples that a suite's exercises have. This runs their files.

    No verdict depends on them, so no digest contains them. Raises `SuiteError`.
    """
    steps: dict[str, tuple[Step, ...]] = {}
    sources = dict(suite.sources)
    for exercise in suite.exercises:
        file = suite.course.steps_file(exercise)
        if file.is_file():
            steps[exercise.id] = tuple(steps_in(_module(file)))
            sources[file.name] = read_plain(file)
            if not steps[exercise.id]:
                raise SuiteError(f"{file} declares no steps; mark its functions with @step(...)")
    return replace(suite, steps=steps, sources=sources)


def _part(file: Path) -> bytes:
    data = read_plain(file)
    try:
        format_ = json.loads(data)["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SuiteError(f"{file} is not a reference part; `course build --force` makes it anew") from error
    if problem := REFERENCE_PART.problem_of(format_):
        raise SuiteError(f"{file}: {problem}")
    return data


def _module(file: Path) -> ModuleType:
    if not file.is_file():
        raise SuiteError(f"{file} does not exist, and every exercise in course.toml needs checks; write them there")
    spec = importlib.util.spec_from_file_location(f"checks_of_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None  # a path that ends with .py always has a loader
    module = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # leave no __pycache__ in the course
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = _line_in(file, error)
        where = f"{file}, line {line}" if line else str(file)
        if isinstance(error, DeclarationError):
            raise SuiteError(f"{where}: {error}") from error
        if problem := _option_problem(error):
            raise SuiteError(f"{where}: {problem}") from error
        missing = f"{error.name}.py" if isinstance(error, ModuleNotFoundError) else ""
        beside = missing and file.with_name(missing).is_file()
        remedy = f"; a file of checks stands alone: copy what it needs of {missing} into it" if beside else ""
        raise SuiteError(f"{where} cannot be imported: {type(error).__name__}: {error}{remedy}") from error
    finally:
        sys.dont_write_bytecode = writes
    if problems := declaration_problems(module):
        raise SuiteError(f"{file}: {'; '.join(problems)}")
    return module


def _option_problem(error: Exception) -> str:
    """Return a sentence for an option that a function or a judge of the language of checks does not have, or ""."""
    found = re.match(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    if not isinstance(error, TypeError) or found is None:
        return ""
    called = found[1].removesuffix(".__init__")
    function = getattr(language, called, None)
    if function is None:
        return ""
    options = [name for name in inspect.signature(function).parameters if name != "self"]
    hint = suggestion(found[2], options, f"expected one of {', '.join(options)}")
    return f"{called} has no option {found[2]}; {hint}"


def _line_in(file: Path, error: Exception) -> int | None:
    """Return the line of a file that an exception passed through, or that is no Python."""
    at, line = error.__traceback__, error.lineno if isinstance(error, SyntaxError) else None
    while at is not None:
        line = at.tb_lineno if at.tb_frame.f_code.co_filename == str(file) else line
        at = at.tb_next
    return line


def _checks(file: Path, module: ModuleType) -> tuple[Check, ...]:
    checks = tuple(checks_in(module))
    if not checks:
        raise SuiteError(f"{file} declares no checks with points; mark its functions with @check(...)")
    if all(check.bonus for check in checks):
        where = f"{file}, line {checks[0].line}"
        raise SuiteError(f"{where}: all checks are a bonus, expected one that is not; leave bonus=True out")
    if problem := _duplicate_problem(checks) or _requirement_problem(checks):
        raise SuiteError(f"{file}: {problem}")
    return checks


def _duplicate_problem(checks: tuple[Check, ...]) -> str | None:
    """Return a sentence if two checks have one id or one title, None if there are none."""
    seen: dict[str, Check] = {}
    titled: dict[str, Check] = {}
    for check in checks:
        if first := seen.get(check.id):
            lines = f"lines {first.line} and {check.line}"
            return f'two checks have the id {check.id} ({lines}); give one another id, like id="{check.id}_2"'
        if first := titled.get(" ".join(check.title.split())):
            lines = f"lines {first.line} and {check.line}"
            return f"{first.id} and {check.id} have one title, {check.title!r} ({lines}); say in each what it checks"
        seen[check.id] = titled[" ".join(check.title.split())] = check
    return None


def _requirement_problem(checks: tuple[Check, ...]) -> str | None:
    """Return the first mistake in the `requires_any` of some checks, None if there is none."""
    known = {check.id: check for check in checks}
    for check in checks:
        for name in check.requires_any:
            if name not in known:
                hint = suggestion(name, known, f"expected one of {', '.join(known)}")
                return f"{check.id} requires {name}, which is not a check of this file; {hint}"
            if known[name].bonus and not check.bonus:
                return f"{check.id} requires {name}, which is a bonus check; full marks must not need bonus points"
    if circle := next((check.id for check in checks if check.id in _required(known, check.id)), None):
        return f"{circle} requires itself through the checks that it requires; remove one of these requirements"
    return None


def _required(known: Mapping[str, Check], name: str) -> set[str]:
    """Return every check that a check requires, directly or indirectly."""
    required: set[str] = set()
    left = [*known[name].requires_any]
    while left:
        if (check := left.pop()) not in required:
            required.add(check)
            left += known[check].requires_any
    return required


# A digest of several pieces of data.


def digest_of_parts(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 in hexadecimal digits of some parts, each preceded by its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def digests_of_checks(course: Course) -> dict[str, str]:
    """Return a digest for each exercise of what decides its marks; helpers beside the checks count for all of them.

    The checks and solutions of the exercises it needs count too: they decide whether reference parts are used.
    """
    checks = {course.checks_file(exercise) for exercise in course.every}
    helpers = [file for file in sorted(course.checks_dir.glob("*.py")) if file not in checks]
    common = [repr(asdict(course.limits)).encode(), *map(named_content, helpers)]
    return {exercise.id: _digest_of_checks(course, exercise, common) for exercise in course.exercises}


def _digest_of_checks(course: Course, exercise: Exercise, common: list[bytes]) -> str:
    needed = course.with_all_needs(exercise)
    rules = [(part.id, part.needs, part.forbidden, course.sizes_of(part)) for part in needed]
    files = []
    for part in needed:
        files += [course.checks_file(part), course.solutions_dir / part.file]
        files += [course.reference_parts_dir / f"{part.id}.json"] if part is not exercise else []
    return f"sha256:{digest_of_parts([*common, repr(rules).encode(), *map(named_content, files)])}"


def named_content(file: Path) -> bytes:
    """Return the name and content of a file; empty if it is missing."""
    try:
        return file.name.encode() + b"\0" + file.read_bytes()
    except FileNotFoundError:
        return b""
