"""Replace a student's name by their pseudonym wherever it stands in a text."""

import re
import unicodedata
from collections.abc import Callable, Mapping

from autograder.instructor.gradebook.graded import Graded
from autograder.instructor.gradebook.roster import Student

_SHORTEST, _SHORTEST_NUMBER = 3, 6
"""A shorter part of a name is an ordinary word of code, or an ordinary number."""


def keep_names(_student: str, text: str) -> str:
    """Return a text as it is."""
    return text


def hider(graded: Graded, names: Mapping[str, str]) -> Callable[[str, str], str]:
    """Return a function that hides a student's name in their text; `names` has the pseudonyms by student."""
    patterns = {mark.student: _pattern(mark.row) for mark in graded.marks}

    def hide(student: str, text: str) -> str:
        pattern = patterns.get(student)
        return pattern.sub(names[student], unicodedata.normalize("NFC", text)) if pattern is not None else text

    return hide


def _pattern(row: Student) -> re.Pattern[str] | None:
    """Return a pattern of all names of a student, the longest first."""
    parts = {row.student, row.name, row.login, row.email, row.lms_id, *re.findall(r"\w+", row.name)}
    parts = {unicodedata.normalize("NFC", part) for part in parts}
    long_enough = (part for part in parts if len(part) >= (_SHORTEST_NUMBER if part.isdigit() else _SHORTEST))
    wanted = sorted(long_enough, key=lambda part: (-len(part), part))
    # In code an underscore separates words, so it is no letter here.
    pattern = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, wanted))})(?![^\W_])"
    return re.compile(pattern, re.IGNORECASE) if wanted else None
