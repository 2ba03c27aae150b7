"""The student's files as importable modules, from memory: only the expected names, and nothing beside them."""

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from autograder.worker.syntax import forbidden_calls, places


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `ex05_attention` from the bytes of `ex05_attention.py`, before anything else on the path."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.names = frozenset(files)

    def install(self) -> None:
        """Make the files importable, and forget what an earlier job loaded under their names."""
        for name in self.names:
            sys.modules.pop(name.removesuffix(".py"), None)
        sys.meta_path.insert(0, self)
        linecache.clearcache()

    def uninstall(self) -> None:
        """Take the files away again."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a student's module, None for every other name."""
        if f"{fullname}.py" not in self.files:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run the student's file; syntax errors and all others come out as they are."""
        name = f"{module.__name__}.py"
        module.__file__ = name
        exec(compile(self.files[name], name, "exec", dont_inherit=True), module.__dict__)

    def survey(self, exercise: str, forbidden: Sequence[str]) -> dict[str, Any]:
        """Say where the functions of a file return their values, and which forbidden calls it names."""
        source = self.files[f"{exercise}.py"]
        return {"places": places(source), "forbidden": forbidden_calls(source, forbidden)}
