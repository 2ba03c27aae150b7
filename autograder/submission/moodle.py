"""The names in a download of Moodle: whose a folder or a flat file is.

A folder is `NAME_ID_assignsubmission_PLUGIN` (up to 4.0 with `_` at the end); a flat file has that before its own name.
Of teams the name is the group's; the default team has no ID. See get_student_prefix in
https://github.com/moodle/moodle/blob/main/public/mod/assign/classes/downloader.php

Students choose their names and those of their files, so either may look like another student's beginning. The last
marker of a folder's name is Moodle's own. In a flat file's name Moodle's is the one before the file's name, and which
that is cannot be told where there are several: such a file is nobody's.
"""

import re
from dataclasses import dataclass

_MARK = re.compile(r"_assignsubmission_(?P<plugin>[a-z]+)(?=_|\Z)")
_OWNER = re.compile(r"(?P<name>.*?)(?:_(?P<id>\d+))?", re.DOTALL)


@dataclass(frozen=True)
class Owner:
    """Whose a folder or file is: what its name begins with, in it the participant's name and number.

    `plugin` is `file` for files, `onlinetext` for texts; `rest` is the name of a flat file.
    """

    label: str
    name: str
    id: str | None
    plugin: str
    rest: str


def owner(name: str) -> Owner | None:
    """Return whose a folder of this name is, None where Moodle gives no folder such a name."""
    marks = list(_MARK.finditer(name))
    return _owner(name, marks[-1]) if marks and name[marks[-1].end() :] in ("", "_") else None


def owners(name: str) -> tuple[Owner, ...]:
    """Return whose a flat file of this name may be: one, none, or several where it cannot be told."""
    marks = [mark for mark in _MARK.finditer(name) if name[mark.end() :].strip("_")]
    return tuple(each for mark in marks if (each := _owner(name, mark)) is not None)


def _owner(name: str, mark: re.Match[str]) -> Owner | None:
    label = name[: mark.start()]
    found = _OWNER.fullmatch(label)
    if not label or found is None:
        return None
    return Owner(label, found["name"], found["id"], mark["plugin"], name[mark.end() + 1 :])
