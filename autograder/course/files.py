"""Make the stubs that students fill in: each solution region becomes a NotImplementedError that names its TODO."""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path

from autograder.checks import nearest_name
from autograder.formats import Unreadable, read_json
from autograder.protocol import Outline, outline_of

from .course import Course, Exercise, UsageError
from .storage import read_plain, read_text
from .toml import COURSE_FILE

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


def todo_comment(stub: str, name: str) -> str:
    """Return the comment above the TODO of a function or method in a stub, without its `TODO` mark; "" without one."""
    todo = next((function.todo for function in outline_of(stub).functions if function.name == name), 0)
    lines = [line.strip() for line in stub.splitlines()[: max(todo - 1, 0)]]
    comment = list(takewhile(lambda line: line.startswith("#"), reversed(lines)))[::-1]
    text = " ".join(line.lstrip("# ") for line in comment)
    text = re.sub(r"^TODO[^:]*:\s*", "", text)
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


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


def stale_stubs(course: Course, exercises: Sequence[Exercise] | None = None) -> dict[Path, str]:
    """Return the expected text of every stub that is missing or differs from its solution; of all, or of some."""
    stale = {}
    for exercise in course.exercises if exercises is None else exercises:
        stub = make_stub(read_text(course.solutions_dir / exercise.file), exercise)
        file = course.exercises_dir / exercise.file
        if not file.is_file() or read_text(file) != stub:
            stale[file] = stub
    return stale


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
    yield solutions / "misconceptions" / f"{exercise.id}.toml", "the misconceptions"
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
