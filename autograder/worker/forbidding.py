"""Forbidden calls noticed at run time: by whatever name a student's file reaches them.

Syntax sees the names a file mentions; this sees the functions it calls. It is there for honesty and clear words, not as
a wall: what runs in a student's process can be undone by the student.
"""

import importlib
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from torch._ops import OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode

OPERATIONS = frozenset({OpOverload, OpOverloadPacket})


class ForbiddenCallError(Exception):
    """A student's file called what its exercise forbids; the message is the dotted name."""


def forbidding(names: Sequence[str], file: str, all_files: Collection[str]) -> AbstractContextManager[Any]:
    """Return what notices forbidden calls; where nothing is forbidden, torch's calls need no second look."""
    return Forbidding(names, file, all_files) if names else nullcontext()


class Forbidding(TorchFunctionMode):
    """Raises `ForbiddenCallError` where the file of an exercise calls one of the forbidden names.

    What another file calls, an earlier exercise or a stand-in, is no matter here.
    """

    def __init__(self, names: Collection[str], file: str, all_files: Collection[str]) -> None:
        super().__init__()
        self.names = tuple(names)
        self.file = file
        self.all_files = all_files
        self.functions = _functions(self.names)

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if id(func) in self.functions or type(func) in OPERATIONS:
            self._notice(func)
        return func(*args, **kwargs) if kwargs else func(*args)

    def _notice(self, func: Any) -> None:
        name = self.functions.get(id(func), f"torch.ops.{func}")
        if (id(func) in self.functions or name.startswith(self.names)) and self._called_by_file():
            raise ForbiddenCallError(name)

    def _called_by_file(self) -> bool:
        """Whether the nearest frame of a student's file, or of a stand-in, is the exercise's."""
        frame = sys._getframe(3)
        while frame is not None:
            file = frame.f_code.co_filename
            if file in self.all_files or file.startswith("stand_ins/"):
                return file == self.file
            frame = frame.f_back  # type: ignore[assignment]
        return False


@lru_cache(maxsize=64)
def _functions(names: tuple[str, ...]) -> Mapping[int, str]:
    return {id(found): name for name in names if (found := resolve(name)) is not None}


def resolve(name: str) -> object | None:
    """Return what a dotted name stands for; None where this release of torch has no such thing."""
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
