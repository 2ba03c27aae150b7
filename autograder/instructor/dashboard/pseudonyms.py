"""Random names for the students on the class page, the same every time."""

import csv
import io
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.course.names import UsageError
from autograder.instructor.gradebook.csv_text import as_csv
from autograder.instructor.gradebook.graded import Graded
from autograder.instructor.gradebook.scores import harmless, plain
from autograder.learner.progress import write_atomically
from autograder.report.printable import one_line
from autograder.submission.files import printable

FILE = "pseudonyms.csv"
"""The only file that maps pseudonyms to students; it stays in the folder of the reports."""

# No vowels, so that no pseudonym is a word; no 0 and 1, which look like letters.
_LETTERS, _DIGITS = "BCDFGHJKLMNPQRSTVWXZ", "23456789"
_FORM = re.compile(f"[{_LETTERS}][{_DIGITS}]([{_LETTERS}][{_DIGITS}])+")


def pseudonyms(file: Path, students: Iterable[str]) -> Mapping[str, str]:
    """Return a pseudonym for each student: the one in the file, or a new one that is added to the file.

    Raises `UsageError` if the file is damaged, and OSError if it cannot be written.
    """
    wanted = list(students)
    known = _read(file)
    taken = set(known.values())
    for student in wanted:
        if student not in known:
            known[student] = _new(taken)
            taken.add(known[student])
    rows = ((name, harmless(student)) for student, name in sorted(known.items(), key=lambda pair: pair[1]))
    write_atomically(file, as_csv([("pseudonym", "student"), *rows]), mode=0o600)
    return {student: known[student] for student in wanted}


def own_names(graded: Graded) -> Mapping[str, str]:
    """Return the name of each student in the roster, with the student id."""
    rows = {mark.student: one_line(mark.row.name) for mark in graded.marks}
    return {student: f"{name} ({one_line(student)})" if name else one_line(student) for student, name in rows.items()}


def _read(file: Path) -> dict[str, str]:
    """Return the pseudonym of each student in the file; none if the file is missing or empty."""
    known: dict[str, str] = {}
    try:
        text = file.read_text("utf-8-sig")
        table = csv.DictReader(io.StringIO(text, newline=""))
        if text.strip() and not {"pseudonym", "student"} <= set(table.fieldnames or ()):
            raise ValueError("its first line")
        for row in table:
            name, student = row["pseudonym"] or "", row["student"] or ""
            if not _FORM.fullmatch(name) or not student or name in known.values():
                raise ValueError(f"line {table.line_num}")
            known[plain(student)] = name
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, csv.Error) as error:
        where = "its letters" if isinstance(error, UnicodeDecodeError) else error
        raise UsageError(
            f"{printable(file)} is damaged ({where}), expected pseudonyms as an earlier page wrote them; "
            "restore the file, or move it away to get new pseudonyms"
        ) from None
    return known


def _new(taken: set[str]) -> str:
    """Return a pseudonym that nobody has."""
    pairs = 2 if len(taken) < 5000 else 3  # there are 25,600 with two pairs: above a fifth of them, retries get many
    while True:
        name = "".join(secrets.choice(_LETTERS) + secrets.choice(_DIGITS) for _ in range(pairs))
        if name not in taken:
            return name
