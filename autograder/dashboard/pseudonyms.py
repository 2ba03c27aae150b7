"""What students are called on the class page: by chance, and the same every time, unless names are asked for."""

import csv
import io
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.gradebook.graded import Graded
from autograder.gradebook.scores import harmless
from autograder.progress import write_whole
from autograder.report.printable import one_line

FILE = "pseudonyms.csv"
"""In the folder that was graded to, and nowhere else: who is who."""

_LETTERS, _DIGITS = "BCDFGHJKLMNPQRSTVWXZ", "23456789"
_FORM = re.compile(f"[{_LETTERS}][{_DIGITS}]([{_LETTERS}][{_DIGITS}])+")


def pseudonyms(file: Path, students: Iterable[str]) -> Mapping[str, str]:
    """Return a pseudonym for each student: those of the file, and for who is new there one that is added to it.

    Raises OSError where the file cannot be written.
    """
    wanted = list(students)
    known = _read(file)
    taken = set(known.values())
    for student in wanted:
        if student not in known:
            known[student] = _new(taken)
            taken.add(known[student])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["pseudonym", "student"])
    writer.writerows((name, harmless(student)) for student, name in sorted(known.items(), key=lambda each: each[1]))
    write_whole(file, text.getvalue())
    file.chmod(0o600)
    return {student: known[student] for student in wanted}


def own_names(graded: Graded) -> Mapping[str, str]:
    """Return the name of each student by the roster, with the id where the roster has another name."""
    rows = {each.student: one_line(each.row.name) for each in graded.marks}
    return {student: f"{name} ({one_line(student)})" if name else one_line(student) for student, name in rows.items()}


def _read(file: Path) -> dict[str, str]:
    """Return who is who by an earlier page; nobody where there is no such file, or one that is none of ours."""
    try:
        rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))
    except (OSError, ValueError, csv.Error):
        return {}
    found: dict[str, str] = {}
    for row in rows:
        name, student = row.get("pseudonym") or "", row.get("student") or ""
        if _FORM.fullmatch(name) and student and name not in found.values():
            found[_plain(student)] = name
    return found


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and harmless(cell[1:]) == cell else cell


def _new(taken: set[str]) -> str:
    """Return one that nobody has; no two letters stand together, so that it is no word."""
    pairs = 2 if len(taken) < 5000 else 3
    while True:
        name = "".join(secrets.choice(_LETTERS) + secrets.choice(_DIGITS) for _ in range(pairs))
        if name not in taken:
            return name
