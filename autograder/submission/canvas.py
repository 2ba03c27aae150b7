"""Read the owner of a file from its name in a download of Canvas, whose files are flat.

A file is `lovelaceada_LATE_123_4567_name-1.py`: the sortable name without its punctuation, LATE, user id, attachment
id, and the file's name, to which Canvas adds `-1` if the student has another file of that name. A text or a link is
`lovelaceada_123_text.html` or `_link.html`. Anonymous files begin with `anon_aB3dE` instead of name and id. See
add_upload_submission, get_filename and sanitize_user_name in
https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb

Students choose their names, and Canvas removes punctuation only after it has looked for `_12_` in them. So a name can
still end with `_12`, or contain `_12_34_`. A file whose name can be read in two ways is attributed to nobody.
"""

import re
from dataclasses import dataclass

_NUMBERS = re.compile(r"(?=_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>\d+)_(?P<rest>.+))", re.DOTALL)
_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_TEXT = re.compile(r"(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+)_(?:text|link)\.html", re.DOTALL)
_ANONYMOUS_TEXT = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)_(?:text|link)\.html")
_DIGITS = 18
"""Digits of the longest id; a longer number is cut, since int() refuses to read thousands of digits."""


@dataclass(frozen=True)
class Upload:
    """One way to read a file's name. `file` is the attachment's id, which grows with time; a text has no `rest`."""

    user: str
    name: str | None
    late: bool
    file: int = 0
    rest: str = ""


def uploads(name: str) -> tuple[Upload, ...]:
    """Return the ways in which the name of a file can be read, none if Canvas makes no such name."""
    if match := _ANONYMOUS_TEXT.fullmatch(name):
        return (Upload(match["user"], None, bool(match["late"])),)
    readings: dict[tuple[str, int], Upload] = {}
    for numbers in _NUMBERS.finditer(name):
        user, late = numbers["user"], bool(numbers["late"])
        upload = Upload(user, name[: numbers.start()], late, _number(numbers), numbers["rest"])
        readings.setdefault((upload.user, upload.file), upload)
    if match := _ANONYMOUS.fullmatch(name):
        readings.pop((match["user"].removeprefix("anon_"), _number(match)), None)
        anonymous = Upload(match["user"], None, bool(match["late"]), _number(match), match["rest"])
        readings = {(anonymous.user, anonymous.file): anonymous, **readings}
    if not readings and (match := _TEXT.fullmatch(name)):
        return (Upload(match["user"], match["name"], bool(match["late"])),)
    return tuple(readings.values())


def _number(match: re.Match[str]) -> int:
    return int(match["file"][:_DIGITS])
