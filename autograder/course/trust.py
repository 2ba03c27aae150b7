"""Whose code may run here: the folders of courses that this user has said to trust.

A course's checks run in the program that judges, and its exercises and solutions as processes of the user. So `course`
asks before it runs the first of them, as git does with `safe.directory`. The list lies in the user's own
configuration: a folder cannot bring trust along. It goes by folder and owner, so edited checks are not asked about
again.
"""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from autograder.course.storage import write_whole

ENGINE = Path(__file__).resolve().parents[2]
"""Where the engine that runs lies. In a kit or a checkout that is the folder of the course: its code runs already."""

VARIABLE = "COURSE_TRUST"
"""Folders that are trusted, as in PATH, or 1 for every folder: for containers and automatic runs."""

ask: list[Callable[[Path], bool]] = []
"""What asks the user, where there is one to be asked."""


class Untrusted(Exception):
    """A folder that nobody has said to trust; the message is a sentence with the command that does."""


def require(root: Path) -> None:
    """Return if the code of a course may run; ask, where somebody can answer. Raises `Untrusted`."""
    root = root.resolve()
    if is_trusted(root):
        return
    if ask and ask[-1](root):
        trust(root)
        return
    raise Untrusted(
        f"you have not used the course in {root} before, and its code would run with your rights. Nothing was run. "
        f"If you trust that folder: course trust {_quoted(root)}"
    )


def is_trusted(root: Path) -> bool:
    """Say whether the code of a course may run: it is the engine's own, named in the environment, or on the list."""
    root = root.resolve()
    return root == ENGINE or _named_in_environment(root) or _kept().get(str(root), "") == _owner(root)


def trust(root: Path) -> Path | None:
    """Put a folder on the list, and return the list's file; None where it cannot be kept, and only this run knows."""
    root = root.resolve()
    trust_here(root)
    return _keep({**_kept(), str(root): _owner(root)})


def distrust(root: Path) -> bool:
    """Take a folder off the list; return whether it was on it. Raises OSError."""
    kept = _kept()
    if kept.pop(str(root.resolve()), None) is None:
        return False
    if _keep(kept) is None:
        raise OSError(1, "the list of trusted folders cannot be written", str(_file()))
    return True


def trust_here(root: Path) -> None:
    """Trust a folder in this process and those it starts: one it has made itself from a trusted course."""
    named = os.environ.get(VARIABLE, "")
    if not _named_in_environment(root.resolve()):
        os.environ[VARIABLE] = os.pathsep.join(filter(None, [named, str(root.resolve())]))


def _named_in_environment(root: Path) -> bool:
    named = os.environ.get(VARIABLE, "")
    return named == "1" or any(Path(each).resolve() == root for each in named.split(os.pathsep) if each)


def _kept() -> dict[str, str]:
    """Return the list, with the owner of each folder; empty where another user could have written it."""
    file = _file()
    try:
        if file is None or not _is_own(file):
            return {}
        folders = json.loads(file.read_bytes())["folders"]
        return {str(folder): str(owner) for folder, owner in folders.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _keep(folders: dict[str, str]) -> Path | None:
    file = _file()
    try:
        if file is None:
            return None
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, json.dumps({"folders": folders}, indent=1) + "\n", mode=0o600)
    except OSError:
        return None
    return file


def _file() -> Path | None:
    """Return where the list lies; None for a user without a home."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    except RuntimeError:
        return None
    return base / "course" / "trusted.json" if base.is_absolute() else None


def _is_own(file: Path) -> bool:
    if sys.platform == "win32":
        return True
    found = file.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _owner(root: Path) -> str:
    """Return who owns a folder, as text; of a folder that is not there, what nobody is."""
    try:
        return str(root.stat().st_uid)
    except OSError:
        return "nobody"


def _quoted(root: Path) -> str:
    import shlex

    return shlex.quote(str(root)) if os.name == "posix" else f'"{root}"'
