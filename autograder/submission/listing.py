"""The submissions in a folder: one folder or zip for each student."""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.submission.entry import Entry
from autograder.submission.folder import kind_of, reason
from autograder.submission.found import LINK, FileError, SubmissionError, printable, shown
from autograder.submission.submission import reader_of, student_name

_WORK = frozenset({".py", ".ipynb", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
"""Endings of files in which somebody's work may be, though no submission is read from them."""


@dataclass(frozen=True)
class Submissions:
    """`entries` can be graded, `problems` say what was handed in and cannot be, `notes` what else lies there."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def list_submissions(folder: Path, files: Sequence[str]) -> Submissions:
    """List every folder and zip directly in a folder, by name, hidden ones left out. `files` are the expected ones.

    Raises `SubmissionError` where the folder cannot be listed or is itself a submission.
    """
    paths = _paths(folder)
    own = [path.name for path in paths if path.name in files]
    if own:
        found = f"{printable(folder)} holds {own[0]}, so it looks like one submission"
        parent = printable(folder.resolve().parent)
        raise SubmissionError(f"{found}, expected a folder of submissions; give its parent, {parent}")
    students: dict[str, list[Entry]] = defaultdict(list)
    problems: list[str] = []
    notes: list[str] = []
    for path in paths:
        try:
            student = _student(path)
        except SubmissionError as error:
            problems.append(str(error))
            continue
        if student is None:
            notes.append(f"{shown(path.name)} is no submission; it was left out")
        else:
            students[_folded(student)].append(Entry(student, path))
    entries = sorted((same[0] for same in students.values() if len(same) == 1), key=lambda entry: entry.path)
    problems += [_shared(same) for same in students.values() if len(same) > 1]
    return Submissions(tuple(entries), tuple(problems), tuple(notes))


def _paths(folder: Path) -> list[Path]:
    try:
        return sorted(folder / name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208
    except (OSError, ValueError) as error:
        raise SubmissionError(
            f"{printable(folder)} cannot be read ({reason(error)}); expected a folder of submissions: check the path"
        ) from None


def _student(path: Path) -> str | None:
    """Return whose submission a path is, or None where it is none; raise `SubmissionError` where work may be lost."""
    try:
        kind = kind_of(path)
    except FileError as error:
        raise SubmissionError(f"{shown(path.name)} {error}; check its permissions") from None
    if kind == "link":
        raise SubmissionError(f"{shown(path.name)} {LINK}")
    if reader_of(path, kind):
        return student_name(path, kind)
    if path.suffix.lower() in _WORK:
        told = f"{shown(path.name)} is neither a folder nor a zip, so it was left out"
        raise SubmissionError(f"{told}; make it a folder or a zip named after its student")
    return None


def _folded(name: str) -> str:
    """Return a name as file systems that ignore case and accents' encoding compare it, for reports must not collide."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _shared(entries: Sequence[Entry]) -> str:
    names = ", ".join(shown(entry.path.name) for entry in entries)
    return f"{names} are of one student, so none of them is graded; keep one, or rename them"
