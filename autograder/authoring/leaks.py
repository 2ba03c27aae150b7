"""The leak gate: search every file of a kit for secrets, in every encoding and archive format."""

import ast
import base64
import binascii
import bz2
import html
import json
import lzma
import re
import tomllib
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from autograder.answer_key import ENGINE, CatalogueError, patched, read_catalogue
from autograder.course import (
    BEGIN,
    CATALOGUE,
    COURSE_FILE,
    END,
    FOLDER,
    HINTS,
    Course,
    Exercise,
    StubError,
    Suite,
    catalogue,
    make_stub,
    read_text,
    shortened,
)
from autograder.submission import NOTEBOOKS, notebook_of

# The secrets of a course: lines of solutions and misconceptions, and the grading seed.

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
        yield from _lines(_code_lines(file), file.relative_to(course.root).as_posix(), exercise)


def _of_parts(course: Course, only: Exercise | None) -> Iterator[Secret]:
    """Yield the lines of the sources of reference parts, which are correct programs too."""
    for file in sorted(course.part_sources_dir.glob(only.file if only else "*.py")):
        code, name = _code_lines(file), file.relative_to(course.root).as_posix()
        yield from _lines(code, name, file.stem)
        yield from _together(code, name, file.stem)


def _code_lines(file: Path) -> list[tuple[int, str]]:
    """Return the lines of a program that reveal what it does, with their numbers."""
    numbered = enumerate(file.read_text("utf-8").splitlines(), 1)
    return [(number, line) for number, line in numbered if line.strip() and not _BEGINNING.match(line)]


def _of_catalogue(course: Course, only: Exercise | None) -> Iterator[Secret]:
    """Yield the changed lines of misconceptions: each is nearly right."""
    for exercise in [only] if only else course.every:
        text = (course.solutions_dir / exercise.file).read_text("utf-8")
        right, file = set(text.splitlines()), course.catalogue_file(exercise)
        for misconception in read_catalogue(file, text, parse=False):
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
        if only:
            own = (course.checks_file(only), course.steps_file(only))
            self._code = [_lines_of(file for file in own if file.is_file())]
        else:
            self._code = [_lines_of(course.checks_dir.rglob("*.py")), _engine()]

    def has(self, secret: Secret) -> bool:
        """Return whether a secret is public."""
        texts = [self._stubs, *([] if secret.of.startswith("lines") else self._code)]
        return any(text.have(secret.words) for text in texts)


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


def _lines_of(files: Iterable[Path]) -> _Texts:
    """Return the lines of code of some files."""
    return _Texts(line for file in files for line in _code(file.read_text("utf-8")).splitlines())


@cache
def _engine() -> _Texts:
    """Return the lines of the engine: to read them takes seconds, and they do not change."""
    return _lines_of(ENGINE.rglob("*.py"))


def _stub(course: Course, exercise: Exercise) -> str:
    return make_stub((course.solutions_dir / exercise.file).read_text("utf-8"), exercise)


def _code(text: str) -> str:
    """Return the code of a text without comments, docstrings and strings of several lines."""
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


# The texts of hints and of the public catalogue, each with its place: a leak in a hint is named by the hint.


def named_texts(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each text that learners read in a file; nothing for other files."""
    try:
        if name.startswith(f"{HINTS}/"):
            yield from _hint_texts(tomllib.loads(data.decode("utf-8")), Path(name).stem)
        elif name.endswith(CATALOGUE):
            yield from _catalogue_texts(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # a file of another form has no such texts


def _hint_texts(tables: dict[str, Any], exercise: str) -> Iterator[tuple[str, str]]:
    for check, hints in tables.get("hints", {}).items():
        yield from ((f"a hint of the check {check} of {exercise}", hint) for hint in hints)
    for todo, texts in tables.get("start", {}).items():
        yield from ((f"a text of [start] for {todo} of {exercise}", text) for text in texts)


def _catalogue_texts(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for id_, texts in entries.items():
        for key, text in texts.items():
            if isinstance(text, str):
                yield f"the {key} of the misconception {id_}", text


# Everything that can be read from a file: its text, encoded data, and compressed streams at any offset.
#
# A packed git history, a zip without its directory and a comment in an image are treated alike: as streams in bytes.

DEEPEST = 5
"""The number of nested encodings that are unpacked, like base64 in a zip in a zip."""

MOST_BYTES = 1 << 30
"""The most bytes unpacked from one file: stops archive bombs."""

# Shorter runs of printable bytes are noise in binary data, and shorter base64 or hexadecimal ones are words.
_RUN = re.compile(rb"[\t\n\r\x20-\x7e]{6,}")
_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){6,}")
_GAPS = re.compile(rb"\\+[nrt]|[\s\"',\\]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
_HEX = re.compile(rb"[0-9A-Fa-f]{32,}")
_STREAM = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\0|PK\x03\x04")
_SEALED = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar", b"\x28\xb5\x2f\xfd": "zstd"}
_PIECE = 1 << 16
_LEAST = 12
"""A stream that unpacks to fewer bytes is nearly always a chance match of the start bytes."""


class SealedError(Exception):
    """A file that cannot be searched; the message is the rest of a sentence that begins with its name."""


@dataclass(frozen=True)
class View:
    """One reading of a file: its text, and the layers it was found under, like ("base64", "zlib")."""

    text: str
    layers: tuple[str, ...]
    blob: bytes


def views(data: bytes) -> Iterator[View]:
    """Yield everything that can be read from a file. Raises `SealedError` if a part cannot be searched."""
    left = [MOST_BYTES]
    yield from _views(data, (), left)


def _views(data: bytes, layers: tuple[str, ...], left: list[int]) -> Iterator[View]:
    left[0] -= len(data)
    if left[0] < 0:
        raise SealedError(f"unpacks to more than {MOST_BYTES >> 20} MiB, too much to look through")
    for magic, name in _SEALED.items():
        if data.startswith(magic):
            raise SealedError(f"is a {name} archive, which cannot be searched")
    text = _text(data)
    yield View(text, layers, data)
    if len(layers) == DEEPEST:
        return
    for how, inner in _layers(data, text.encode("utf-8", "replace"), left):
        yield from _views(inner, (*layers, how), left)


def _text(data: bytes) -> str:
    """Return the text in some bytes: all of it, or the runs of printable characters in binary data."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\n".join(run.decode("ascii") for run in _RUN.findall(data))
    if "\0" in text or b"\0" in data:
        wide = b"\n".join(run.replace(b"\0", b"") for run in _WIDE.findall(data) + _WIDE.findall(data[1:]))
        text = f"{text}\n{wide.decode('ascii')}"
    if text[:1] in ("{", "["):
        text = f"{text}\n{_strings(text)}"
    return f"{text}\n{html.unescape(text)}" if "&" in text else text


def _strings(text: str) -> str:
    """Return the strings of a JSON document, such as a notebook, one per line."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return ""
    found: list[str] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*reversed(value.values()), *value]
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, str):
            found.append(value)
    return "\n".join(found)


def _layers(data: bytes, text: bytes, left: list[int]) -> Iterator[tuple[str, bytes]]:
    """Yield encoded data, read from every offset at which a block may begin, and compressed streams."""
    compact = _GAPS.sub(b"", text)
    runs = [run.replace(b"-", b"+").replace(b"_", b"/") for run in _BASE64.findall(compact)]
    for phase in range(4 if runs else 0):
        yield "base64", b"\n".join(base64.b64decode(_quartets(run[phase:])) for run in runs)
    digits = _HEX.findall(compact)
    for phase in range(2 if digits else 0):
        yield "hexadecimal", b"\n".join(binascii.unhexlify(_pairs(run[phase:])) for run in digits)
    at = 0
    while found := _STREAM.search(data, at):
        how, inner, end = _stream(data, found.start(), left)
        at = max(end, found.start() + 1)
        if len(inner) >= _LEAST:
            yield how, inner


def _quartets(run: bytes) -> bytes:
    """Return a run of base64, cut or padded to whole blocks."""
    over = len(run) % 4
    return run[: len(run) - 1] if over == 1 else run + b"=" * (-over % 4)


def _pairs(run: bytes) -> bytes:
    return run[: len(run) // 2 * 2]


def _stream(data: bytes, start: int, left: list[int]) -> tuple[str, bytes, int]:
    """Return the format of the stream at an offset, its readable content, and its end."""
    first = data[start : start + 4]
    if first[:1] == b"\x78":
        return "zlib", *_inflated(data, start, zlib.decompressobj, left)
    if first[:2] == b"\x1f\x8b":
        return "gzip", *_inflated(data, start, lambda: zlib.decompressobj(31), left)
    if first[:3] == b"BZh":
        return "bzip2", *_inflated(data, start, bz2.BZ2Decompressor, left)
    if first[:2] == b"\xfd7":
        return "xz", *_inflated(data, start, lzma.LZMADecompressor, left)
    flags, method = (int.from_bytes(data[start + at : start + at + 2], "little") for at in (6, 8))
    name, extra = (int.from_bytes(data[start + at : start + at + 2], "little") for at in (26, 28))
    body = start + 30 + name + extra
    if body > len(data):
        return "zip", b"", start + 4
    if flags & 1:
        raise SealedError("has a zip with a password, which cannot be searched")
    if method == 8:
        return "zip", *_inflated(data, body, lambda: zlib.decompressobj(-15), left)
    if method not in (0, 12):  # stored and bzip2 data are found at their own offsets
        raise SealedError(f"has a zip with compression method {method}, which cannot be searched")
    return "zip", b"", body


def _inflated(data: bytes, start: int, make: Callable[[], Any], left: list[int]) -> tuple[bytes, int]:
    """Return the content of a stream, as far as it can be read, and its end."""
    stream, pieces, at = make(), [], start
    size = 0
    try:
        while at < len(data) and not stream.eof:
            piece = data[
                at : at + (256 if at == start else _PIECE)
            ]  # most of these starts are not streams: try a little first
            pieces.append(stream.decompress(piece))
            size += len(pieces[-1])
            at += len(piece)
            if size > left[0]:
                raise SealedError(f"unpacks to more than {MOST_BYTES >> 20} MiB, too much to look through")
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
        return b"".join(pieces), start + 1
    return b"".join(pieces), at - len(stream.unused_data) if stream.eof else start + 1


_FIRST = 3
"""Secrets are looked up by their first three words, so that a text is compared with few of them."""

_COMPILED = re.compile(rb"[\x0b-\x13]\r\n.{12}\xe3\0{12}", re.DOTALL)
"""What the compiled code of a module begins with: a number of the release, \\r\\n, and a code without arguments."""

_OF_COMPILED = (".pyc", ".pyo")

LONGEST_EXCERPT = 100
"""Characters of a secret that a sentence about a leak shows."""


@dataclass(frozen=True)
class Leak:
    """A secret in a file of a kit; `found` is the rest of a sentence that begins with the file name."""

    file: str
    found: str

    @property
    def sentence(self) -> str:
        return f"{self.file} {self.found}"


class Gate:
    """Searches files for secrets."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._by_start: defaultdict[tuple[str, ...], list[Secret]] = defaultdict(list)
        for secret in secrets:
            if secret.number is None:
                self._by_start[secret.words[:_FIRST]].append(secret)
        self._numbers = [(_notations(secret.number), secret) for secret in secrets if secret.number is not None]

    def leaks(
        self, files: Iterable[tuple[str, bytes]], hunted: Collection[str] = (), hunts: Collection[str] = ()
    ) -> list[Leak]:
        """Return the first secret in each file, or one for each hint; a file that cannot be searched counts as a leak.

        The files named in `hunts` may have lines that only programs of the `hunted` exercises have.
        """
        none: Collection[str] = ()
        found: list[Leak] = []
        for name, data in files:
            if (leak := self._leak(name, data, hunted if name in hunts else none)) is not None:
                found += [*self._in_texts(name, data)] or [leak]
        return found

    def _in_texts(self, name: str, data: bytes) -> Iterator[Leak]:
        """Yield the first secret in each hint, and in each other text that an author finds by its name."""
        for place, text in named_texts(name, data):
            if (found := self._first_secret(text)) is not None:
                yield Leak(name, f"has {found[1].of} in {place}: {_excerpt(found[1])}")

    def _leak(self, name: str, data: bytes, hunted: Collection[str]) -> Leak | None:
        try:
            if (found := self._first_secret(name)) is not None:
                return Leak(name, f"has {found[1].of} in its name: {_excerpt(found[1])}")
            for view in views(data):
                packed = f", in {' in '.join(reversed(view.layers))}" if view.layers else ""
                if name.endswith(_OF_COMPILED) or _COMPILED.search(view.blob):
                    return Leak(name, f"is compiled Python{packed}, which nobody can review")
                found = self._first_secret(view.text, hunted)
                if found is not None:
                    number, secret = found
                    line = f" in line {number}" if not view.layers else packed
                    return Leak(name, f"has {secret.of}{line}: {_excerpt(secret)}")
        except SealedError as sealed:
            return Leak(name, str(sealed))
        return None

    def _first_secret(self, text: str, hunted: Collection[str] = ()) -> tuple[int, Secret] | None:
        return next(self.secrets_in(text, hunted), None)

    def secrets_in(self, text: str, hunted: Collection[str] = ()) -> Iterator[tuple[int, Secret]]:
        """Yield the secrets in a text, each with the line on which it begins; none of the `hunted` exercises alone."""
        starts, words = self._by_start, words_of(text)
        for at, three in enumerate(zip(words, words[1:], words[2:], strict=False)):
            if three in starts:
                for secret in starts[three]:
                    if secret.exercises and secret.exercises.issubset(hunted):
                        continue
                    if tuple(words[at : at + len(secret.words)]) == secret.words:
                        yield _line(text, at), secret
                        break
        for notations, secret in self._numbers:
            for spelling in (text, text.replace("_", "")):
                if number := notations.search(spelling):
                    yield spelling.count("\n", 0, number.start()) + 1, secret


def _notations(number: int) -> re.Pattern[str]:
    """Return a pattern for a number in decimal or hexadecimal digits, not inside a longer number."""
    return re.compile(rf"(?<!\d){number}(?!\d)|(?<![0-9a-f]){number:x}(?![0-9a-f])", re.IGNORECASE)


def _excerpt(secret: Secret) -> str:
    return shortened(" ".join(secret.words), LONGEST_EXCERPT)


def _line(text: str, at: int) -> int:
    """Return the line of a text with its word number `at`."""
    for number, line in enumerate(text.splitlines(), 1):
        at -= len(words_of(line))
        if at < 0:
            return number
    return 1


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file in a folder, git history included; of a link, its target."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            yield name, str(file.readlink()).encode()
        elif file.is_file():
            yield name, file.read_bytes()


def files_of(files: Mapping[str, bytes], folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a new kit, and of the git history in its folder."""
    yield from files.items()
    if (folder / ".git").is_dir():
        yield from ((f".git/{name}", data) for name, data in files_in(folder / ".git"))


# Find leaks in the texts of one exercise within a second, long before a kit is made.


def leaking_texts(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each text with a line of a program of this exercise, for which no kit could be made."""
    try:
        files = dict(_texts(course, exercise))
        if Gate(secrets_of(course, exercise)).leaks(files.items()):
            # Few exercises come here: to read all files that may make a line public takes seconds.
            own = [secret for secret in secrets_of(course) if exercise.id in secret.exercises]
            yield from (f"{leak.sentence}; `course release` refuses this" for leak in Gate(own).leaks(files.items()))
    except (OSError, UnicodeDecodeError, StubError, CatalogueError):  # each has a sentence of its own
        return


def _texts(course: Course, exercise: Exercise) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each text of an exercise that goes into a kit; what a stub has is public."""
    entries = {id_: texts for id_, texts in catalogue(course).items() if texts["exercise"] == exercise.id}
    checks = course.checks_dir.relative_to(course.root).as_posix()
    yield f"{checks}/{CATALOGUE}", json.dumps(entries, ensure_ascii=False).encode()
    notebook = course.exercises_dir / NOTEBOOKS / notebook_of(exercise.file)
    own = (course.hints_file(exercise), course.checks_file(exercise), course.steps_file(exercise), notebook)
    for file in (course.root / COURSE_FILE, *own):
        if file.is_file():
            yield file.relative_to(course.root).as_posix(), file.read_bytes()


# Find lines of a region that an author left in a stub, in a hint or in a title: a kit could be made with them.

FEWEST_OF_TWO = 12
"""Two lines of fewer words and signs are an idiom: `optimizer.zero_grad()` and `loss.backward()`."""

FEWEST_OF_ONE = 9
"""A shorter line is what a hint may name: `self.free.append(block)`."""

_NO_WORK = re.compile(r"\s*(from|import|def|class|raise|#|@)")


def copied_regions(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each place of a stub with two lines, one after the other, that a region of any exercise has.

    A place may have more of them.
    """
    with suppress(OSError, UnicodeDecodeError, StubError):  # each has a sentence of its own
        stub = _stub(course, exercise)
        gate = Gate([secret for other in course.every for secret in _line_pairs(course, other)])
        lines, before = [_without_comment(line) for line in stub.splitlines()], 0
        for number, secret in gate.secrets_in("\n".join(lines)):
            goes_on = before and not any(map(str.strip, lines[before : number - 1]))
            before = number
            if not goes_on:
                where = f"line {number} of exercises/{exercise.file} begins with {secret.of}: {_excerpt(secret)}"
                remedy = "write them in another way there, or let the region call the function that has them"
                yield f"{where}; a student would copy them, so {remedy}"


def copied_lines(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each line of a region that a hint, a title, or a comment or code of a stub has."""
    with suppress(OSError, UnicodeDecodeError, StubError):  # each has a sentence of its own
        secrets = [secret for other in suite.course.every for secret in _single_lines(suite.course, other)]
        every = Gate(secrets)
        of_others = Gate([secret for secret in secrets if exercise.id not in secret.exercises])
        hints = _hint_texts({"hints": exercise.hints, "start": exercise.start}, exercise.id)
        titles = ((f"the title of the check {check.id}", check.title) for check in suite.checks[exercise.id])
        stub = _stub(suite.course, exercise)
        code = {line.strip() for line in _code(stub).splitlines()}
        texts = [(place, text, every) for place, text in (*hints, *titles)]
        for cell in re.finditer(r"^# ?%%.*\n((?:(?!# ?%%).*\n?)*)", stub, re.MULTILINE):
            if "[markdown]" in cell[0].split("\n", 1)[0]:
                continue  # a lesson may show one line
            first = stub.count("\n", 0, cell.start(1)) + 1
            texts += [
                (f"line {number} of exercises/{exercise.file}", line, of_others if line.strip() in code else every)
                for number, line in enumerate(cell[1].splitlines(), first)
            ]
        for place, text, gate in texts:
            if (found := gate._first_secret(text)) is not None:
                yield f"{place} has {found[1].of}: {_excerpt(found[1])}; say in words what to do"


def _line_pairs(course: Course, exercise: Exercise) -> Iterator[Secret]:
    for region in _regions(read_text(course.solutions_dir / exercise.file)):
        for (first, one), (last, other) in pairwise(region):
            words = tuple(words_of(f"{_without_comment(one)}\n{_without_comment(other)}"))
            if len(words) >= FEWEST_OF_TWO:
                yield Secret(words, f"lines {first} and {last} of solutions/{exercise.file}")


def _single_lines(course: Course, exercise: Exercise) -> Iterator[Secret]:
    """Yield the lines of regions without a `return` at their beginning; none that the given code has too."""
    code = _Texts(_code(_stub(course, exercise)).splitlines())
    for region in _regions(read_text(course.solutions_dir / exercise.file)):
        for number, line in region:
            words = tuple(words_of(_without_comment(line.lstrip().removeprefix("return "))))
            if len(words) >= FEWEST_OF_ONE and not _NO_WORK.match(line) and not code.have(words):
                of = f"line {number} of solutions/{exercise.file}"
                yield Secret(words, of, exercises=frozenset([exercise.id]))
