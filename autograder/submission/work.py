"""Find a student's work by its text alone, whatever holds it: a script, a notebook, a copy under another name.

Only whole lines are compared, so nothing is parsed and a broken file is read too.
"""

import html
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from autograder.submission.files import Caps, FileError, Listing, SubmittedFile

_DEFINITION = re.compile(r"(\s*)(?:async\s+)?(def|class)\s+(\w+)")
_ONE_LINE = re.compile(r"\)\s*(?:->[^:]*)?:\s*([^\s#].*)")
_QUOTES = re.compile(r'"""|\'\'\'')
_COMMENT = re.compile(r"^(\s*)#+ ?", re.MULTILINE)
_TAG = re.compile(r"<[^<>]*>")
_JSON_LINE = re.compile(r'\s*"(.*?)(?:\\n)?",?\s*')
_TODO = "raise NotImplementedError"
_IDLE = ("pass", "...")
_LONGEST = 1 << 20
_MOST_FILES = 500
_NUMBERED = re.compile(r"ex0*(\d+)", re.IGNORECASE)
_KIT = frozenset({"autograder", "docs"})
"""Folders of the kit itself, in which some names are those of exercises."""

_PACKED = frozenset({".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
_DOCUMENTS = frozenset({".pdf", ".doc", ".docx", ".odt", ".rtf", ".pages"})

Bodies = Mapping[str, Sequence[str]]
"""The lines of each function, or of each method as `Class.method`, without comments and docstrings."""


def bodies(text: str) -> Bodies:
    """Return the lines of each function in a text; of two with one name, the later."""
    found: dict[str, list[str]] = {}
    owner, owner_at = "", -1
    name, at, quote, opened = "", -1, "", 0
    for line in text[:_LONGEST].splitlines():
        if quote:
            quote = "" if quote in line else quote
            continue
        mark = line.strip()
        if not mark or mark.startswith("#"):
            continue
        if opened > 0:  # the head of a function goes on
            opened += mark.count("(") - mark.count(")")
            continue
        indent = len(line) - len(line.lstrip())
        if name and indent <= at:
            name = ""
        match = _DEFINITION.match(line)
        if match and not name:
            if indent <= owner_at:
                owner, owner_at = "", -1
            if match[2] == "class":
                owner, owner_at = match[3], indent
                continue
            name, at = f"{owner}.{match[3]}" if owner else match[3], indent
            found[name] = []
            opened = mark.count("(") - mark.count(")")
            if opened == 0 and (rest := _ONE_LINE.search(mark)) is not None:
                found[name].append(rest[1])
            continue
        if mark.startswith(('"""', "'''", 'r"""')):
            marks = _QUOTES.findall(mark)
            quote = marks[0] if len(marks) % 2 else ""
        elif name:
            found[name].append(mark)
    return found


def unwritten(stub: str) -> frozenset[str]:
    """Return the functions that a stub leaves to write."""
    return frozenset(name for name, lines in bodies(stub).items() if any(_TODO in line for line in lines))


def written(text: str, stub: str) -> frozenset[str]:
    """Return those functions of a stub, left to write there, that a text has with lines of its own and no TODO."""
    given, own = bodies(stub), bodies(text)
    return frozenset(
        name for name in unwritten(stub) if _is_work(own.get(name, ()), given[name]) and not _has_todo(own[name])
    )


def without_comments(text: str) -> str:
    """Return a text in which every comment is code."""
    return _COMMENT.sub(r"\1", text)


def _has_todo(lines: Sequence[str]) -> bool:
    return any(line.startswith(_TODO) for line in lines)


def _is_work(lines: Sequence[str], given: Sequence[str]) -> bool:
    known = {*given, *_IDLE}
    return any(line not in known and not line.startswith(_TODO) for line in lines)


def text_in(name: str, data: bytes) -> str:
    """Return the text of a file: of a notebook that of all its cells, of a page that of its code."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("{") and '"cells"' in text:
        return "\n".join(_cells(text))
    if name.lower().endswith((".html", ".htm")):
        return html.unescape(_TAG.sub("", text))
    return text


def _cells(text: str) -> Iterator[str]:
    """Yield the texts of the cells of a notebook; if it is broken, the lines in its JSON."""
    try:
        cells = json.loads(text)["cells"]
        yield from ("".join(cell["source"]) for cell in cells)
    except (ValueError, TypeError, KeyError, RecursionError):
        for line in text.splitlines():
            if match := _JSON_LINE.fullmatch(line):
                yield match[1].replace('\\"', '"').replace("\\n", "\n")


def find_doubts(
    listing: Listing,
    files: Sequence[str],
    sources: Mapping[str, bytes],
    counted: Mapping[str, SubmittedFile],
    unread: Collection[str],
    given: Mapping[str, bytes],
    caps: Caps,
) -> dict[str, str]:
    """Return a sentence for each expected file without work, or with less, than a file beside it that was not read.

    `counted` are the files that the `sources` are from, and `given` the stubs.
    """
    stubs = {file: given[file].decode("utf-8-sig", "replace") for file in files if file in given}
    have = {file: written(text_in(file, sources.get(file, b"")), stub) for file, stub in stubs.items()}
    lacking = {file: unwritten(stub) - have[file] for file, stub in stubs.items()}
    lacking = {file: names for file, names in lacking.items() if names}
    if not lacking:
        return {}
    found: dict[str, list[SubmittedFile]] = {file: [] for file in lacking}
    left = caps.inner_kib * 1024
    read = {(one.path, one.rank) for one in counted.values()}
    tried = {name for file in unread for name in (file, f"{file.removesuffix('.py')}.ipynb")}
    others = [
        one
        for one in listing.files
        if (one.path, one.rank) not in read
        and not one.refused
        and one.path.name not in tried
        and one.path.suffix.lower() != ".zip"
    ]
    for other in others[:_MOST_FILES]:
        possible = [file for file in lacking if _may_be(other, file, sources)]
        if not possible or left <= 0:
            continue
        try:
            data = other.read(min(left, caps.notebook_kib * 1024))
        except FileError:
            continue
        left -= len(data)
        if b"def" not in data.replace(b"\0", b""):
            continue
        text = text_in(other.path.name, data)
        for file in possible:
            new = written(text, stubs[file]) & lacking[file]
            if new and (_is_near(other.path.name, file) or 2 * len(new) >= len(lacking[file])):
                found[file].append(other)
    closed = [] if any(have.values()) else listing.unseen
    for file in lacking:
        if not have[file]:
            found[file] += [one for one in others if _is_closed(one, file, nothing=not any(have.values()))]
    doubts = {file: _doubt(file, counted, unread, bool(have[file]), ones) for file, ones in found.items() if ones}
    unopened = [file for file in lacking if closed and file in sources and file not in doubts]
    return doubts | {file: f"{file} holds no work, and a part was not opened: {closed[0]}" for file in unopened}


def _doubt(
    file: str,
    counted: Mapping[str, SubmittedFile],
    unread: Collection[str],
    begun: bool,
    others: Sequence[SubmittedFile],
) -> str:
    """Return the sentence about a file and the `others` that may be the one that is meant."""
    names = ", ".join(other.display_name for other in others[:2])
    names += f" and {len(others) - 2:,} more" if len(others) > 2 else ""
    closed = all(_is_document(other.path) for other in others)
    remedy = "rename it if that is the one"
    if closed:
        remedy = f"hand in {file}" if others[0].path.suffix.lower() in _DOCUMENTS else "pack it as a zip"
    elif all(other.path.name == file for other in others):
        remedy = "keep the one that is meant"
    if file not in counted:
        return f"{file} {'cannot be read' if file in unread else 'is missing'}, and there is {names}; {remedy}"
    holds = "is unfinished" if begun else "holds no work"
    work = "was not opened" if closed else "has more work" if begun else "has work"
    return f"{counted[file].display_name} counts and {holds}, and {names} {work}; {remedy}"


def _may_be(other: SubmittedFile, file: str, sources: Mapping[str, bytes]) -> bool:
    """Say whether a file may be a copy of an expected one: it is none of another exercise, and none of the kit."""
    name = other.path.name
    stem = name.partition(".")[0]
    if _is_near(name, file):
        return True
    exercise = _NUMBERED.match(stem)
    if exercise is not None or f"{stem}.py" in sources or _KIT & set(other.path.parts[:-1]):
        return False
    return not _is_document(other.path)


def _is_closed(other: SubmittedFile, file: str, *, nothing: bool) -> bool:
    """Say whether a file is no text and may hold the work: it has the name, or `nothing` else in the hand-in does."""
    if not _is_document(other.path) or other.is_aside:
        return False
    packed = other.path.suffix.lower() in _PACKED
    return _is_near(other.path.name, file) or (packed and nothing)


def _is_document(path: PurePosixPath) -> bool:
    return path.suffix.lower() in (*_PACKED, *_DOCUMENTS)


def _is_near(name: str, file: str) -> bool:
    """Say whether a name is that of an expected file with something before, behind or between its letters."""
    stem, own = _squeezed(name), _squeezed(file.removesuffix(".py"))
    number = _NUMBERED.match(file)
    begins = number is not None and re.match(rf"(?:\w*?)(?:ex|exercise)?0*{int(number[1])}(?!\d)", stem) is not None
    return own in stem or (begins and _NUMBERED.match(name) is not None)


def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
