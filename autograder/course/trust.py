"""Which courses may run their code here: the folders that this user trusts.

A course's checks run in the judge's process, and its exercises and solutions as processes of the user. So `course`
asks before it runs any of them, as git does with `safe.directory`. The list is in the user's own configuration, so
that a folder cannot declare itself trusted. It has each folder with its owner; edited checks need no new answer.
"""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from autograder.course.storage import read_plain, write_atomically

ENGINE = Path(__file__).resolve().parents[2]
"""The folder of the running engine. In a kit or a checkout it is the course's folder, whose code runs already."""

VARIABLE = "COURSE_TRUST"
"""Trusted folders, separated as in PATH, or 1 for every folder: for containers and automatic runs."""

ask: list[Callable[[Path], bool]] = []
"""The function that asks the user, last; empty without a terminal."""


class Untrusted(Exception):
    """The user does not trust a course's folder; the message is a sentence with the command that trusts it."""


def require(root: Path) -> None:
    """Return if the code of a course may run; ask the user if possible. Raises `Untrusted`."""
    root = root.resolve()
    if is_trusted(root):
        return
    if ask and ask[-1](root):
        trust(root)
        return
    raise Untrusted(
        f"you have not used the course in {root} before, and its code would run with your rights. Nothing was run. "
        f"If you trust that folder, run: course trust {_quoted(root)}"
    )


def is_trusted(root: Path) -> bool:
    """Say whether the code of a course may run: it is the engine's own, in `COURSE_TRUST`, or on the list."""
    root = root.resolve()
    return root == ENGINE or _is_in_variable(root) or _read_list().get(str(root), "") == _owner(root)


def trust(root: Path) -> Path | None:
    """Add a folder to the list; return the list's file. None if it cannot be written: then only this run trusts it."""
    root = root.resolve()
    trust_here(root)
    return _write_list({**_read_list(), str(root): _owner(root)})


def distrust(root: Path) -> bool:
    """Remove a folder from the list; return whether it was on it. Raises OSError."""
    folders = _read_list()
    if folders.pop(str(root.resolve()), None) is None:
        return False
    if _write_list(folders) is None:
        raise OSError(1, "the list of trusted folders cannot be written", str(_file()))
    return True


def trust_here(root: Path) -> None:
    """Trust a folder in this process and its children, as for a folder this process made from a trusted course."""
    value = os.environ.get(VARIABLE, "")
    if not _is_in_variable(root.resolve()):
        os.environ[VARIABLE] = os.pathsep.join(filter(None, [value, str(root.resolve())]))


def _is_in_variable(root: Path) -> bool:
    value = os.environ.get(VARIABLE, "")
    return value == "1" or any(Path(folder).resolve() == root for folder in value.split(os.pathsep) if folder)


def _read_list() -> dict[str, str]:
    """Return the trusted folders with their owners; nothing if another user could have written the list."""
    file = _file()
    try:
        if file is None or not _is_own(file):
            return {}
        folders = json.loads(read_plain(file))["folders"]
        return {str(folder): str(owner) for folder, owner in folders.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _write_list(folders: dict[str, str]) -> Path | None:
    """Write the list and return its file, None if it cannot be written."""
    file = _file()
    try:
        if file is None:
            return None
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(file, json.dumps({"folders": folders}, indent=1) + "\n", mode=0o600)
    except OSError:
        return None
    return file


def _file() -> Path | None:
    """Return the file of the list; None for a user without a home."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    except RuntimeError:
        return None
    return base / "course" / "trusted.json" if base.is_absolute() else None


def _is_own(file: Path) -> bool:
    """Say whether this user owns a file and nobody else may write it."""
    if sys.platform == "win32":  # the folder of %APPDATA% is the user's own
        return True
    status = file.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _owner(root: Path) -> str:
    """Return the user id that owns a folder, as text; `nobody`, which is no id, if there is no such folder."""
    try:
        return str(root.stat().st_uid)
    except OSError:
        return "nobody"


def _quoted(root: Path) -> str:
    import shlex

    return shlex.quote(str(root)) if os.name == "posix" else f'"{root}"'
