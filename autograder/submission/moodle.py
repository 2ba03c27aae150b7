"""Read the owner of a folder or a flat file from its name in a download of Moodle.

A folder is `NAME_ID_assignsubmission_PLUGIN` (up to 4.0 with `_` at the end); a flat file has that before its own name.
A team has the name of the group; the default team has no ID. See get_student_prefix in
https://github.com/moodle/moodle/blob/main/public/mod/assign/classes/downloader.php

Students choose their own names and those of their files, so either may look like the prefix of another student. In a
folder's name, the last marker is Moodle's own. In a flat file's name, it is the one before the file's name. If there
are several, nobody can know which one that is, so the file is attributed to nobody.
"""

import re
from dataclasses import dataclass

from autograder.submission.folder import Kind

_MARK = re.compile(r"_assignsubmission_(?P<plugin>[a-z]+)(?=_|\Z)")
_OWNER = re.compile(r"(?P<name>.*?)(?:_(?P<id>\d+))?", re.DOTALL)


@dataclass(frozen=True)
class Owner:
    """The owner of a folder or file: the prefix of its name, with the participant's name and number in it.

    `plugin` is `file` for files and `onlinetext` for texts. `rest` is the student's name for a flat file.
    """

    label: str
    name: str
    id: str | None
    plugin: str
    rest: str


def owners(name: str, kind: Kind) -> tuple[Owner, ...]:
    """Return the possible owners of a folder or a flat file: one, none, or several if the name is ambiguous."""
    marks = list(_MARK.finditer(name))
    if kind == "folder":
        marks = [mark for mark in marks[-1:] if name[mark.end() :] in ("", "_")]
    else:
        marks = [mark for mark in marks if kind == "file" and name[mark.end() :].strip("_")]
    return tuple(owner for mark in marks if (owner := _owner(name, mark)) is not None)


def _owner(name: str, mark: re.Match[str]) -> Owner | None:
    label = name[: mark.start()]
    match = _OWNER.fullmatch(label)
    if not label or match is None:
        return None
    return Owner(label, match["name"], match["id"], mark["plugin"], name[mark.end() + 1 :])
