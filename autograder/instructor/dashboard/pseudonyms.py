"""What students are called on the class page: by chance, and the same every time, unless names are asked for."""

import csv
import io
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.course.names import UsageError
from autograder.instructor.gradebook.graded import Graded
from autograder.instructor.gradebook.scores import harmless, plain
from autograder.learner.progress import write_whole
from autograder.report.printable import one_line
from autograder.submission.found import printable

FILE = "pseudonyms.csv"
"""In the folder that was graded to, and nowhere else: who is who."""

_LETTERS, _DIGITS = "BCDFGHJKLMNPQRSTVWXZ", "23456789"
_FORM = re.compile(f"[{_LETTERS}][{_DIGITS}]([{_LETTERS}][{_DIGITS}])+")


def pseudonyms(file: Path, students: Iterable[str]) -> Mapping[str, str]:
    """Return a pseudonym for each student: those of the file, and for who is new there one that is added to it.

    Raises `UsageError` where the file is none that an earlier page left, and OSError where it cannot be written.
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
    writer.writerows((name, harmless(student)) for student, name in sorted(known.items(), key=lambda pair: pair[1]))
    write_whole(file, text.getvalue(), mode=0o600)
    return {student: known[student] for student in wanted}


def own_names(graded: Graded) -> Mapping[str, str]:
    """Return the name of each student by the roster, with the id where the roster has another name."""
    rows = {mark.student: one_line(mark.row.name) for mark in graded.marks}
    return {student: f"{name} ({one_line(student)})" if name else one_line(student) for student, name in rows.items()}


def _read(file: Path) -> dict[str, str]:
    """Return who is who by an earlier page; nobody where there is no such file, or an empty one."""
    found: dict[str, str] = {}
    try:
        text = file.read_text("utf-8-sig")
        table = csv.DictReader(io.StringIO(text, newline=""))
        if text.strip() and not {"pseudonym", "student"} <= set(table.fieldnames or ()):
            raise ValueError("its first line")
        for row in table:
            name, student = row["pseudonym"] or "", row["student"] or ""
            if not _FORM.fullmatch(name) or not student or name in found.values():
                raise ValueError(f"line {table.line_num}")
            found[plain(student)] = name
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, csv.Error) as error:
        where = "its letters" if isinstance(error, UnicodeDecodeError) else error
        raise UsageError(
            f"{printable(file)} is not who is who as an earlier page left it ({where}); "
            "put that back, or move the file away for new pseudonyms"
        ) from None
    return found


def _new(taken: set[str]) -> str:
    """Return one that nobody has; no two letters stand together, so that it is no word."""
    pairs = 2 if len(taken) < 5000 else 3
    while True:
        name = "".join(secrets.choice(_LETTERS) + secrets.choice(_DIGITS) for _ in range(pairs))
        if name not in taken:
            return name
