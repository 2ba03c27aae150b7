"""What stands beside course.toml: stubs, the texts of misconceptions, and the checks with their trials and points."""

import ast
import difflib
import hashlib
import importlib.util
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder import checks as language
from autograder.checks import (
    Check,
    DeclarationError,
    Drawing,
    Key,
    Step,
    checks_in,
    declaration_problems,
    nearest_name,
    pictures_in,
    steps_in,
)
from autograder.formats import REFERENCE_PART, Unreadable, read_json
from autograder.protocol import Outline, outline_of

from .course import HINTS, STEPS_PREFIX, Course, Exercise, UsageError
from .reader import split
from .storage import read_plain, read_text, require
from .toml import COURSE_FILE, suggestion

# Where a kit, which has no solutions, keeps the files that a course makes from them: answer keys and stubs.

KEY_FOLDER = "key"
MANIFEST = f"{KEY_FOLDER}/manifest.json"

KIT = Path(__file__).parents[1] / "kit.tar.xz"
"""The kit that `course start` lays out. Only the wheel of a released course has it, beside the engine's rooms."""

STUBS = ".course/stubs"
"""Unchanged stubs and notebooks: in a hidden folder, so that no submission is read from it."""


def key_file(exercise: Exercise, check: str | None = None) -> str:
    """Return the path in a kit of an exercise's answer key, or of the solution's traces under one check."""
    return f"{KEY_FOLDER}/{exercise.id}/{f'traces-{check}' if check else 'key'}.xz"


def is_kit(course: Course) -> bool:
    """Say whether a course is a kit that contains its answer keys."""
    return (course.root / MANIFEST).is_file()


def stubs_dir(course: Course) -> Path:
    """Return the folder of a kit's unchanged stubs."""
    return course.root / STUBS


def refuse_kit(course: Course, command: str, needs: str = "the solutions") -> None:
    """Raise `UsageError` if the course is a kit, for a command that needs what a kit does not contain."""
    if is_kit(course):
        raise UsageError(
            f"this is a kit, and course {command} needs {needs}; run it in the course it was released from"
        )


BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

_LIKE_A_MARK = re.compile(r"^([^#\"']*)#\W*([^\W\d_]+?)[\W_]*(s[^\W\d_]+)\b(.*)$", re.IGNORECASE)
"""A comment of two words, the second with an S: `##BEGIN SOLUTON`. A mark beside code, or with more words, is none."""

DEFINITION = re.compile(r"^(\s*)(def|class) (\w+)")


class StubError(Exception):
    """A solution cannot be turned into a stub; the message is a sentence with its file and line."""


def make_stub(solution: str, exercise: Exercise) -> str:
    """Return the stub of a solution's text.

    A region inside a function becomes `raise NotImplementedError("ex05: NAME")`. A region elsewhere, with helpers or
    methods of the solution's own, is omitted: a module or class that raises could not be imported.
    """
    lines: list[str] = []
    owner, function, begun = "", "", 0
    margin: int | None = None  # of the function that the line may belong to
    for number, line in enumerate(solution.splitlines(), 1):
        mark = line.strip()
        if mark == BEGIN:
            if begun:
                where = f"above the {BEGIN} of line {number}"
                raise StubError(f"{exercise.file}:{begun}: this region has no {END}; write one {where}")
            begun = number
            indent = line[: len(line) - len(line.lstrip())]
            if margin is not None and len(indent) > margin:
                lines.append(f'{indent}raise NotImplementedError("{exercise.id[:4]}: {function}")')
        elif mark == END:
            if not begun:
                raise StubError(f"{exercise.file}:{number}: this region has no {BEGIN}")
            begun = 0
        elif near := _nearest_mark(line):
            raise StubError(f"{exercise.file}:{number}: {mark!r} is no mark of a region, expected {near}; correct it")
        elif not begun:
            if match := DEFINITION.match(line):
                indent, kind, name = match.groups()
                margin = len(indent) if kind == "def" else None
                owner = name if kind == "class" else owner if indent else ""
                function = f"{owner}.{name}" if indent and owner else name
            lines.append(line)
    if begun:
        raise StubError(f"{exercise.file}:{begun}: this region has no {END}")
    return re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines)).rstrip() + "\n"


def _nearest_mark(line: str) -> str:
    """Return the mark that a line which is none was meant to be, or ""."""
    found = _LIKE_A_MARK.search(line)
    if found is None:
        return ""
    code, first, second, more = found.groups()
    if (code.strip() or re.search(r"\w", more)) and not f"{first}{second}".isupper():
        return ""  # a sentence
    mark = nearest_name(first.upper(), ("BEGIN", "END"), 0.7)
    return f"### {mark} SOLUTION" if mark and nearest_name(second.upper(), ("SOLUTION",), 0.7) else ""


def stub_text(course: Course, exercise: Exercise) -> str | None:
    """Return the stub of an exercise, from its solution or from the kit's copy; None if there is neither.

    Raises `StubError` if the solution is no text, or cannot be turned into a stub.
    """
    solution = course.solutions_dir / exercise.file
    if solution.is_file():
        try:
            return make_stub(read_text(solution), exercise)
        except UnicodeDecodeError:
            raise StubError(f"{solution} is no text in UTF-8; save it as UTF-8") from None
    kept = stubs_dir(course) / exercise.file
    return read_plain(kept).decode("utf-8") if kept.is_file() else None


def outline_of_stub(course: Course, exercise: Exercise) -> Outline | None:
    """Return the outline of an exercise's stub; None if there is no stub, or it cannot be read."""
    try:
        text = stub_text(course, exercise)
        return outline_of(text) if text is not None else None
    except (StubError, OSError, SyntaxError, ValueError):
        return None


# Find the files of an author that a command could not read, before it begins: missing ones, and ones that are no
# text.
#
# A kit has none of these files.

VARIANT = "an accepted variant"


def require_texts(course: Course, exercises: Iterable[Exercise]) -> None:
    """Raise `UsageError` with a sentence for every file of these exercises that is missing or cannot be read.

    The files of what they need are among them.
    """
    needed = (need for exercise in exercises for need in course.with_all_needs(exercise))
    if problems := dict.fromkeys(problem for need in needed for problem in _problems(course, need)):
        raise UsageError("\n".join(problems))


def _problems(course: Course, exercise: Exercise) -> Iterator[str]:
    solution = course.solutions_dir / exercise.file
    for file, what in _files(course, exercise):
        name = file.relative_to(course.root)
        if file != solution and not file.exists():
            continue  # only a solution must exist; the checks have a sentence of their own
        try:
            text = read_plain(file).decode("utf-8")
            if file == solution or what == VARIANT:
                compile(text, str(name), "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except FileNotFoundError:
            remedy = f"write it there, or take {exercise.id} out of {COURSE_FILE}"
            yield f"{exercise.id} has no solution: {name} is missing; {remedy}"
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            found = f"line {line} has the byte 0x{error.object[error.start]:02x}, expected UTF-8"
            yield f"{name}, {what} of {exercise.id}, is no text: {found}; save it as UTF-8"
        except (SyntaxError, ValueError) as error:
            where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
            yield f"{name}, {what} of {exercise.id}, is no Python ({where}); correct it"
        except OSError as error:
            expected = f"expected {what} of {exercise.id}"
            yield f"{name} cannot be read ({error.strerror}), {expected}; put a file there that you may read"


def _files(course: Course, exercise: Exercise) -> Iterator[tuple[Path, str]]:
    """Yield the files of an exercise that its author writes, with what each is."""
    solutions = course.solutions_dir
    yield solutions / exercise.file, "the solution"
    yield course.checks_file(exercise), "the checks"
    yield course.steps_file(exercise), "the steps of the worked example"
    yield course.catalogue_file(exercise), "the misconceptions"
    yield solutions / "equivalents" / f"{exercise.id}.toml", "the list of equivalent mutants"
    yield course.part_sources_dir / exercise.file, "the source of the reference part"
    accepted = solutions / "accepted"
    variants = [*sorted((accepted / exercise.id).glob("*.py")), *sorted(accepted.glob(f"whole/*/{exercise.file}"))]
    yield from ((file, VARIANT) for file in variants)


# The file of an exercise with programs to practise on: right ones in several styles, and wrong ones with one fault.

HUNTS = "hunts"
"""A folder beside the checks of a kit. It is there only for exercises that the author of the kit chose."""

Grid = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Example:
    """A step of the lesson's example: its numbers on paper, and those of the wrong program."""

    title: str
    paper: Grid
    wrong: Grid


WHOLE = "whole/"
"""How the name of a variant begins that is a whole course, in one style."""


@dataclass(frozen=True)
class Hunt:
    """A wrong program: an accepted variant with one fault, the misconception that it shows, and its faulty lines.

    `checks` are the ids of those that fail, the first one first. `example` is the first step of the lesson's example
    that the fault changes, if there is one.
    """

    id: str
    misconception: str
    checks: tuple[str, ...]
    variant: str
    lines: tuple[int, ...]
    source: str
    example: Example | None = None


@dataclass(frozen=True)
class HuntFile:
    """The programs of an exercise: `right` has the accepted variants by name."""

    exercise: str
    right: Mapping[str, str]
    hunts: tuple[Hunt, ...]

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(asdict(self), indent=1) + "\n"


def read_hunts(file: Path) -> HuntFile | None:
    """Return the programs in a file; None if there is no such file, or it cannot be read."""
    try:
        return read_json(HuntFile, read_plain(file))
    except (OSError, Unreadable):
        return None


def nothing_to_hunt(programs: HuntFile) -> str:
    """Return the sentence for an exercise without a wrong program: what its author can write."""
    folder = f"solutions/accepted/{programs.exercise}"
    if not programs.right:
        return f"{programs.exercise} has no programs to practise on, for {folder} has no right program; write one there"
    found = f"no change of a program in {folder} shows a misconception of {programs.exercise} by name"
    return f"{found}; write one there with the text of some `find`, or choose another exercise"


def kit_hunts(course: Course, exercise: Exercise) -> Path:
    """Return the file of an exercise in a kit."""
    return course.checks_dir / HUNTS / f"{exercise.id}.json"


# The texts of the misconceptions of a course, found by id without reading the whole catalogue.

CATALOGUE = "misconceptions.json"
"""A file beside the checks of a kit without solutions: the texts of every misconception by its id, and no code."""

_TABLE_LINE = re.compile(r"^\[([\w-]+)\][ \t]*(?:#.*)?$", re.MULTILINE)
_TEXTS = ("name", "explanation", "hint", "tempting", "experiment", "convention")
_MOST_SUGGESTIONS = 3


@dataclass(frozen=True)
class Described:
    """The texts of a misconception. `wrong` and `right` are the lines that differ between it and the solution.

    `convention` says whose convention it is, if it is one and no mistake.
    """

    id: str
    exercise: str
    name: str
    explanation: str
    hint: str = ""
    tempting: str = ""
    experiment: str = ""
    convention: str = ""
    wrong: tuple[str, ...] = ()
    right: tuple[str, ...] = ()


def describe(course: Course, misconception: str) -> Described | None:
    """Return the misconception of that id; None where the course has none."""
    for exercise, text in _catalogues(course):
        if any(header[1] == misconception for header in _TABLE_LINE.finditer(text)):
            fields = _fields(text, misconception)
            if not fields:
                return None
            file = course.catalogue_file(exercise).with_suffix("") / str(fields.get("program", ""))
            texts = _text(course.solutions_dir / exercise.file), _text(file) if file.suffix == ".py" else ""
            return _described(misconception, exercise.id, fields, *texts)
    fields = _catalogue(course).get(misconception)
    return _described(misconception, str(fields.get("exercise", "")), fields) if isinstance(fields, dict) else None


def nearest_ids(course: Course, misconception: str) -> list[str]:
    """Return the ids most similar to one that does not exist."""
    ids = [header[1] for _, text in _catalogues(course) for header in _TABLE_LINE.finditer(text)] or list(
        _catalogue(course)
    )
    containing = [id_ for id_ in ids if misconception and misconception in id_]
    # 0.5 instead of difflib's 0.6: ids are long, and three suggestions cost a reader little.
    return containing[:_MOST_SUGGESTIONS] or difflib.get_close_matches(
        misconception, ids, n=_MOST_SUGGESTIONS, cutoff=0.5
    )


def named_in(course: Course, exercise: Exercise, *, besides: str) -> dict[str, str]:
    """Return the names of the other misconceptions of an exercise, by id, without those that give the same results.

    Conventions are not among them.
    """
    found = entries_of(course, exercise) or {
        name: fields
        for name, fields in _catalogue(course).items()
        if isinstance(fields, dict) and fields.get("exercise") == exercise.id
    }
    same = {besides, *found.get(besides, {}).get("same_as", ())}
    return {
        name: str(fields["name"])
        for name, fields in found.items()
        if "name" in fields
        and "convention" not in fields
        and name not in same
        and besides not in fields.get("same_as", ())
    }


def entries_of(course: Course, exercise: Exercise) -> dict[str, dict[str, Any]]:
    """Return the tables of an exercise's catalogue, by id; none if there is no such file, or it cannot be read."""
    text = _text(course.catalogue_file(exercise))
    return {name: fields for name, fields in _parsed(text).items() if isinstance(fields, dict)}


def catalogue(course: Course) -> dict[str, dict[str, str]]:
    """Return the catalogue for a kit without solutions: the texts of every misconception, and no code."""
    return {
        name: {"exercise": exercise.id, **{key: str(fields[key]) for key in _TEXTS if key in fields}}
        for exercise in course.exercises
        for name, fields in entries_of(course, exercise).items()
    }


def _catalogues(course: Course) -> Iterator[tuple[Exercise, str]]:
    for exercise in course.exercises:
        if text := _text(course.catalogue_file(exercise)):
            yield exercise, text


def _catalogue(course: Course) -> Mapping[str, Any]:
    try:
        data = json.loads(_text(course.checks_dir / CATALOGUE) or "{}")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError):
        return ""


def _fields(text: str, name: str) -> Mapping[str, Any] | None:
    """Return one misconception of a catalogue. Its lines are parsed alone if possible: parsing them all is slow."""
    headers = list(_TABLE_LINE.finditer(text))
    index = next(index for index, header in enumerate(headers) if header[1] == name)
    end = headers[index + 1].start() if index + 1 < len(headers) else len(text)
    fields = _parsed(text[headers[index].start() : end]).get(name) or _parsed(text).get(name)
    return fields if isinstance(fields, dict) else None


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _described(name: str, exercise: str, fields: Mapping[str, Any], solution: str = "", program: str = "") -> Described:
    texts = {key: str(fields.get(key, "")) for key in _TEXTS}
    wrong: list[str] = []
    right: list[str] = []
    if "program" in fields and solution:
        right, wrong = _different(_code_lines(solution), _code_lines(program))
    for patch in fields.get("patches", [fields]):
        before, after = _changed_lines(patch, solution)
        right += before
        wrong += after
    return Described(name, exercise, **texts, wrong=tuple(wrong), right=tuple(right))


def _changed_lines(patch: Mapping[str, Any], solution: str) -> tuple[list[str], list[str]]:
    """Return the lines of the solution that a patch changes, before and after the patch."""
    find, replace = (str(patch.get(key, "")).removesuffix("\n") for key in ("find", "replace"))
    offset = solution.find(find) if find else -1
    if offset < 0:
        return [], []
    begin, end = solution.rfind("\n", 0, offset) + 1, solution.find("\n", offset + len(find))
    end = end if end >= 0 else len(solution)
    before = solution[begin:end].split("\n")
    after = (solution[begin:offset] + replace + solution[offset + len(find) : end]).split("\n")
    return _different(before, after)


def _code_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def _different(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    opcodes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [opcode for opcode in opcodes if opcode[0] != "equal"]
    return (
        [line for _, start, stop, _, _ in changes for line in before[start:stop] if line.strip()],
        [line for _, _, _, start, stop in changes for line in after[start:stop] if line.strip()],
    )


# A course with its checks: the trials to run, their points, and the digest that verdicts depend on.

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
        return {one.id: [key for check in self.checks[one.id] for key in check.keys] for one in exercises}

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
