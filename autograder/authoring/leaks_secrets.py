"""The secrets of a course: lines of solutions and misconceptions, and the grading seed."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.answer_key.catalogue import CatalogueError, patched, read_catalogue
from autograder.answer_key.released import ENGINE
from autograder.course import Course, Exercise
from autograder.course.storage import FOLDER, read_text
from autograder.course.stubs import BEGIN, END, StubError, make_stub

TELLING = 10
"""A shorter line, in words and signs, is not a secret: `return x`, `for block in self.blocks:`."""

TOGETHER = 3
"""This many consecutive lines are a secret, however short each of them is."""

SHORTEST_SEED = 8
"""A seed with fewer digits could be any other number."""

_WORD = re.compile(r"[^\W\d]\w*|\d\w*(?:\.\w+)*|[^\s\w]")
_ESCAPE = re.compile(r"\\+[nrt]")
_COMMENT = re.compile(r"(?<=\S)\s+# .*")
_BEGINNING = re.compile(r"\s*(from|import)\b|\s*def\b.*:$")
"""An import or the first line of a function: neither reveals the body."""

_LEFT_OUT = frozenset("#\"'\\`")


@dataclass(frozen=True)
class Secret:
    """A sequence of words that must stay secret, and its origin, like `line 12 of solutions/ex05_attention.py`.

    A `number` is searched in decimal and hexadecimal notation, and inside other words too. `exercises` are those whose
    programs have these words.
    """

    words: tuple[str, ...]
    of: str
    number: int | None = None
    exercises: frozenset[str] = frozenset()


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text, without white space, quotes, # and escaped line ends."""
    return [word for word in _WORD.findall(_ESCAPE.sub(" ", text)) if word not in _LEFT_OUT]


def secrets_of(course: Course, only: Exercise | None = None) -> list[Secret]:
    """Return the secrets of a course. Raises `StubError`, `CatalogueError` and OSError for a broken course.

    With `only`, return those of one exercise, and a few lines that files of others make public: that takes no second.
    """
    public = _Public(course, only)
    secrets: dict[tuple[str, ...], Secret] = {}
    for secret in _of_programs(course, only):
        before = secrets.get(secret.words)
        if before is not None:
            secrets[secret.words] = replace(before, exercises=before.exercises | secret.exercises)
        elif not public.has(secret):
            secrets[secret.words] = secret
    return [*secrets.values(), *_of_seed(course)]


def _of_programs(course: Course, only: Exercise | None) -> Iterator[Secret]:
    for of in (_of_solutions, _of_variants, _of_parts, _of_catalogue):
        yield from of(course, only)


def grading_seed(course: Course) -> str | None:
    """Return the digits of the grading seed; None if there is none."""
    try:
        return read_text(course.root / FOLDER / "grading_seed").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _of_seed(course: Course) -> Iterator[Secret]:
    seed = grading_seed(course)
    if seed and seed.isdecimal() and len(seed) >= SHORTEST_SEED:
        yield Secret((seed,), f"the grading seed of {FOLDER}/grading_seed", int(seed))


def _of_solutions(course: Course, only: Exercise | None) -> Iterator[Secret]:
    for exercise in [only] if only else course.every:
        text = (course.solutions_dir / exercise.file).read_text("utf-8")
        for region in _regions(text):
            yield from _lines(region, f"solutions/{exercise.file}", exercise.id)
            yield from _together(region, f"solutions/{exercise.file}", exercise.id)


def _regions(text: str) -> Iterator[list[tuple[int, str]]]:
    region: list[tuple[int, str]] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == BEGIN:
            region = []
        elif line.strip() == END and region is not None:
            yield region
            region = None
        elif region is not None and line.strip():
            region.append((number, line))


def _of_variants(course: Course, only: Exercise | None) -> Iterator[Secret]:
    """Yield the lines of accepted variants."""
    for file in sorted((course.solutions_dir / "accepted").rglob("*.py")):
        exercise = file.stem if file.parent.parent.name == "whole" else file.parent.name
        if only and exercise != only.id:
            continue
        numbered = [(number, line) for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)]
        name = file.relative_to(course.root).as_posix()
        yield from _lines([line for line in numbered if not _BEGINNING.match(line[1])], name, exercise)


def _of_parts(course: Course, only: Exercise | None) -> Iterator[Secret]:
    """Yield the lines of the sources of reference parts, which are correct programs too."""
    for file in sorted(course.part_sources_dir.glob(only.file if only else "*.py")):
        numbered = [(number, line) for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)]
        code = [line for line in numbered if line[1].strip() and not _BEGINNING.match(line[1])]
        name = file.relative_to(course.root).as_posix()
        yield from _lines(code, name, file.stem)
        yield from _together(code, name, file.stem)


def _of_catalogue(course: Course, only: Exercise | None) -> Iterator[Secret]:
    """Yield the changed lines of misconceptions: each is nearly right."""
    for exercise in [only] if only else course.every:
        text = (course.solutions_dir / exercise.file).read_text("utf-8")
        right = set(text.splitlines())
        for misconception in read_catalogue(course.solutions_dir / "misconceptions" / f"{exercise.id}.toml", text):
            wrong = [(0, line) for line in patched(text, misconception).splitlines() if line not in right]
            yield from _lines(wrong, f"the misconception {misconception.id}", exercise.id)


def _lines(numbered: Iterable[tuple[int, str]], file: str, exercise: str) -> Iterator[Secret]:
    for number, line in numbered:
        words = tuple(words_of(_without_comment(line)))
        if len(words) >= TELLING:
            yield Secret(words, f"line {number} of {file}" if number else file, exercises=frozenset([exercise]))


def _together(region: list[tuple[int, str]], file: str, exercise: str) -> Iterator[Secret]:
    """Yield every few consecutive lines, with and without their comments."""
    for at in range(len(region) - TOGETHER + 1):
        some = region[at : at + TOGETHER]
        for lines in ([line for _, line in some], [_without_comment(line) for _, line in some]):
            words = tuple(words_of("\n".join(lines)))
            if len(words) >= TELLING:
                of = f"lines {some[0][0]} to {some[-1][0]} of {file}"
                yield Secret(words, of, exercises=frozenset([exercise]))


def _without_comment(line: str) -> str:
    """Return a line of code without the comment at its end; a line with only a comment stays."""
    return _COMMENT.sub("", line)


class _Public:
    """The text that students may see: the stubs, and the code of checks and engine.

    A line that is public too is not a secret. Consecutive lines are public only in stubs. Comments and docstrings never
    make code public.
    """

    def __init__(self, course: Course, only: Exercise | None) -> None:
        self._stubs = _Texts(_stub(course, exercise) for exercise in ([only] if only else course.every))
        files = [*sorted(course.checks_dir.rglob("*.py")), *sorted(ENGINE.rglob("*.py"))]
        if only:
            own = (course.checks_file(only), course.steps_file(only))
            files = [file for file in own if file.is_file()]
        self._code = _Texts(line for file in files for line in _code(file).splitlines())

    def has(self, secret: Secret) -> bool:
        """Return whether a secret is public."""
        return self._stubs.have(secret.words) or (not secret.of.startswith("lines") and self._code.have(secret.words))


class _Texts:
    """The words of many texts, by the first `TELLING` of them from every place: a secret has at least so many."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [tuple(words_of(text)) for text in texts]
        self._places: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(self._texts):
            for at in range(len(words) - TELLING + 1):
                self._places[words[at : at + TELLING]].append((number, at))

    def have(self, words: tuple[str, ...]) -> bool:
        """Return whether one of the texts has these words, one after another."""
        places = self._places.get(words[:TELLING], ())
        return any(self._texts[number][at : at + len(words)] == words for number, at in places)


def _stub(course: Course, exercise: Exercise) -> str:
    return make_stub((course.solutions_dir / exercise.file).read_text("utf-8"), exercise)


def _code(file: Path) -> str:
    """Return the code of a file without comments, docstrings and strings of several lines."""
    text = file.read_text("utf-8")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ""
    in_string: set[int] = set()
    for node in ast.walk(tree):
        string = node.value if isinstance(node, ast.Expr) else node
        if isinstance(string, ast.Constant) and isinstance(string.value, str):
            end = string.end_lineno or string.lineno
            in_string.update(range(string.lineno, end + 1) if node is not string or end > string.lineno else ())
    code = [
        line
        for at, line in enumerate(text.splitlines(), 1)
        if at not in in_string and not line.lstrip().startswith("#")
    ]
    return "\n".join(map(_without_comment, code))


__all__ = ["CatalogueError", "Secret", "StubError", "grading_seed", "secrets_of", "words_of"]
