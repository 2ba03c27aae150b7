"""The names in a download of Canvas: whose a flat file is.

A file is `lovelaceada_LATE_123_4567_name-1.py`: the sortable name without its punctuation, LATE, user id, attachment
id, and the file's name, to which Canvas itself added `-1` where the student had one of that name. A text or a link is
`lovelaceada_123_text.html` or `_link.html`; anonymous files begin with `anon_aB3dE` instead of name and id. See
add_upload_submission, get_filename and sanitize_user_name in
https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb

Students may choose their names, and punctuation goes after Canvas has looked for `_12_` in them: a name can still end
with `_12`, or hold `_12_34_`. So a file whose name can be read in two ways is nobody's.
"""

import re
from dataclasses import dataclass

_NUMBERS = re.compile(r"(?=_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>\d+)_(?P<rest>.+))", re.DOTALL)
_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_TEXT = re.compile(r"(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+)_(?:text|link)\.html", re.DOTALL)
_ANONYMOUS_TEXT = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)_(?:text|link)\.html")
_DIGITS = 18
"""An id has fewer; a longer number is cut, for int() refuses to read thousands of digits."""


@dataclass(frozen=True)
class Upload:
    """One way to read a file's name; `file` is the attachment's id, and grows with time. A text has no `rest`."""

    user: str
    name: str | None
    late: bool
    file: int = 0
    rest: str = ""


def uploads(name: str) -> tuple[Upload, ...]:
    """Return the ways in which the name of a file can be read, none where it is not of Canvas."""
    if found := _ANONYMOUS_TEXT.fullmatch(name):
        return (Upload(found["user"], None, bool(found["late"])),)
    read: dict[tuple[str, int], Upload] = {}
    for match in _NUMBERS.finditer(name):
        upload = Upload(match["user"], name[: match.start()], bool(match["late"]), _number(match), match["rest"])
        read.setdefault((upload.user, upload.file), upload)
    if found := _ANONYMOUS.fullmatch(name):
        read.pop((found["user"].removeprefix("anon_"), _number(found)), None)
        anonymous = Upload(found["user"], None, bool(found["late"]), _number(found), found["rest"])
        read = {(anonymous.user, anonymous.file): anonymous, **read}
    if not read and (found := _TEXT.fullmatch(name)):
        return (Upload(found["user"], found["name"], bool(found["late"])),)
    return tuple(read.values())


def _number(match: re.Match[str]) -> int:
    return int(match["file"][:_DIGITS])
