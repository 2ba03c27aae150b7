"""Find forbidden names that a module does not have: such an entry forbids nothing.

Run as a program, it reads dotted names as JSON and writes what is missing of each: torch is imported there, for that
takes seconds and starts threads.
"""

import builtins
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from autograder.course import COURSE_FILE, Course, Exercise, nearest
from autograder.protocol import PACKAGE

_ACTS_AT_IMPORT = frozenset({"antigravity", "this", "__main__"})
"""Modules of Python that are not imported to look for a name: one of them opens a browser."""

_HEAVY = frozenset({"torch"})


def unknown_forbidden(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each forbidden name that its module does not have, in this version of it."""
    heavy = tuple(dict.fromkeys(name for one in course.every for name in one.forbidden if _owner(name) in _HEAVY))
    for entry in exercise.forbidden:
        owner = _owner(entry)
        if "." in entry and not _may_be_used(owner, course):
            package = f"forbid it as {PACKAGE}{owner}, or add {owner} to libraries"
            yield f"forbidden lists {entry}, and libraries of {COURSE_FILE} does not have {owner}; {package}"
            continue
        known = owner in sys.stdlib_module_names - _ACTS_AT_IMPORT or owner in course.libraries
        if not known or "." not in entry or "*" in entry:
            continue
        if problem := _elsewhere(heavy).get(entry) if owner in _HEAVY else _missing(entry):
            yield f"forbidden lists {entry}, and {problem}"


def _may_be_used(owner: str, course: Course) -> bool:
    """Whether programs of a course can import a module, or have it as a builtin."""
    return owner in sys.stdlib_module_names or owner in vars(builtins) or owner in course.libraries


def _owner(name: str) -> str:
    return name.partition(".")[0]


@cache
def _elsewhere(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return what is missing of dotted names, by name, from another process; nothing if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "autograder.authoring.forbidden_names"],
        input=json.dumps(names),
        cwd=Path(__file__).parents[2],  # Python looks for the engine there
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def _missing(entry: str) -> str:
    """Return what is missing of a dotted name, with the nearest name; "" if nothing is, or no module can be loaded."""
    name, *parts = entry.split(".")
    found: Any = _module(name)
    if found is None:
        return ""
    for part in parts:
        following = getattr(found, part, None)
        if following is None and not hasattr(found, part):
            following = _module(f"{name}.{part}")
        if following is None and not hasattr(found, part):
            near = nearest(part, (word for word in dir(found) if not word.startswith("_")))
            return f"{name} has no {part}" + (f"; did you mean {name}.{near}?" if near else "")
        found, name = following, f"{name}.{part}"
    return ""


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:  # whatever a module raises that does not fit this machine
        return None


if __name__ == "__main__":
    json.dump({name: _missing(name) for name in json.load(sys.stdin)}, sys.stdout)
