"""Make the student's files importable from memory: only the expected names, and no other file."""

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from autograder.protocol.source_text import code_of
from autograder.worker import parts
from autograder.worker.notebook_names import OF_NOTEBOOKS, run
from autograder.worker.own_helpers import own_helpers
from autograder.worker.package import PACKAGE, forget_package, package_spec, short_name
from autograder.worker.syntax import outermost_loop, survey

ENGINE = "autograder"
"""The grader's own package, which is no library for students: every exercise refuses a file that uses it."""


@lru_cache(maxsize=128)
def compiled(source: bytes, file: str) -> CodeType:
    """Compile a file, once for all jobs; raises whatever `compile` raises."""
    return code_of(source, file)


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `ex05_attention` from the bytes of `ex05_attention.py`, before anything else on the path.

    The same module is also `exercises.ex05_attention` (see `autograder.worker.package`).

    If a file has a reference part, the part replaces the contract's names in that module; the student's other names
    stay. Parts are built in the constructor, before any of the student's code runs. Raises `PartError`.
    """

    def __init__(self, files: Mapping[str, bytes], reference_parts: Mapping[str, bytes]) -> None:
        self.files = files
        self.parts = {name: parts.build(data, name.removesuffix(".py")) for name, data in reference_parts.items()}
        self.names = frozenset({*files, *reference_parts})
        self._hiding = False
        self._builtins: dict[str, Mapping[str, Any]] = {}

    def install(self) -> None:
        """Make the files importable. Until `uninstall`, nobody can build a reference part."""
        parts.close(True)
        self._forget()
        sys.meta_path.insert(0, self)
        linecache.clearcache()

    def uninstall(self) -> None:
        """Make the files importable no more, and forget the modules loaded from them."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._forget()
        parts.close(False)

    def _forget(self) -> None:
        for name in self.names:
            sys.modules.pop(name.removesuffix(".py"), None)
        forget_package()

    @contextmanager
    def engine_hidden(self) -> Iterator[None]:
        """Hide the grader's modules within the block: they can be neither imported nor found in `sys.modules`."""
        names = [name for name in sys.modules if name.startswith(ENGINE) and name.split(".", 1)[0] == ENGINE]
        hidden = {name: sys.modules.pop(name) for name in names}
        self._hiding = True
        try:
            yield
        finally:
            self._hiding = False
            sys.modules.update(hidden)

    def replace_builtins(self, file: str, builtins: Mapping[str, Any] | None) -> None:
        """Give a file builtins of its own when it is imported; None leaves it those of Python."""
        if builtins is not None:
            self._builtins[file] = builtins

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a student's module, None for every other name."""
        if self._hiding and fullname.split(".", 1)[0] == ENGINE:
            raise ModuleNotFoundError(f"{fullname} is the grader's own code; solutions cannot use it", name=fullname)
        if f"{fullname}.py" in self.names:
            return importlib.util.spec_from_loader(fullname, self)
        if fullname == PACKAGE or f"{short_name(fullname)}.py" in self.names:
            return package_spec(fullname)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run the student's file; raises whatever these raise, syntax errors included."""
        name = f"{module.__name__}.py"
        module.__file__ = name
        if name in self.files:
            own, source = self._builtins.get(name), self.files[name]
            given = {word: value for word, value in OF_NOTEBOOKS.items() if word.encode() in source}
            if own is not None or given:
                module.__dict__["__builtins__"] = {**(vars(builtins) if own is None else own), **given}
            run(compiled(source, name), module.__dict__)
        module.__dict__.update(self.parts.get(name, {}))

    def endless(self, frames: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the location of an endless loop: the outermost loop around the frames, the same in every run."""
        for frame in frames:
            if line := outermost_loop(self.files.get(frame["file"], b""), frame["line"]):
                return {**frame, "line": line}
        return frames[-1]

    def survey(self, exercise: str, forbidden: Sequence[str]) -> dict[str, Any]:
        """Return the survey of an exercise's file (see `autograder.worker.syntax`), with the student's own helpers."""
        helpers = own_helpers(self.files, self.parts, exercise) if self.parts else []
        return {**survey(self.files[f"{exercise}.py"], (*forbidden, ENGINE)), "helpers": helpers}
