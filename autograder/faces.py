"""Faces of rooms: a package offers the names of its `TYPE_CHECKING` block, and loads their modules when they are used.

Each room's `__init__` lists its names once, for readers, for type checkers and for this module (PEP 562).
"""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

_IMPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def face(room: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a room: it finds a name of the face in its module, and keeps it."""
    package = sys.modules[room]
    modules: dict[str, str] = {}

    def find(name: str) -> object:
        if not modules and package.__file__ is not None:
            block = Path(package.__file__).read_text("utf-8").partition("if TYPE_CHECKING:")[2].partition("\n\n")[0]
            for module, several, one in _IMPORT.findall(block):
                modules.update((listed.strip(), module) for listed in (several or one).split(",") if listed.strip())
        if name not in modules:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(modules[name], room), name)
        setattr(package, name, found)
        return found

    return find
