"""The student's files as importable modules, from memory: only the expected names, and nothing beside them."""

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from autograder.protocol.source_text import text_of
from autograder.worker import parts
from autograder.worker.syntax import outermost_loop, survey


@lru_cache(maxsize=128)
def compiled(source: bytes, file: str) -> CodeType:
    """Compile a file, once for all jobs; raises what `compile` does."""
    return compile(text_of(source, file), file, "exec", dont_inherit=True)


def codes_in(code: CodeType) -> Iterator[tuple[int, CodeType]]:
    """Return a code and all codes in it, each by its id: another code may be equal, or say that it is of that file."""
    yield id(code), code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_in(each)


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `ex05_attention` from the bytes of `ex05_attention.py`, before anything else on the path.

    Where there is a reference part for a file, the contract's names in that module are the part's; the student's others
    stay. Parts are built here, before any of the student's code runs. Raises `PartError`.
    """

    def __init__(self, files: Mapping[str, bytes], reference_parts: Mapping[str, bytes]) -> None:
        self.files = files
        self.parts = {name: parts.build(data, name.removesuffix(".py")) for name, data in reference_parts.items()}
        self.names = frozenset({*files, *reference_parts})
        self.own_codes: dict[int, CodeType] = {}
        self.part_codes = parts.codes()

    def install(self) -> None:
        """Make the files importable; nobody can build a reference part until they are taken away again."""
        parts.close(True)
        self._forget()
        sys.meta_path.insert(0, self)
        linecache.clearcache()

    def uninstall(self) -> None:
        """Take the files away again, and what was loaded from them."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._forget()
        parts.close(False)

    def _forget(self) -> None:
        for name in self.names:
            sys.modules.pop(name.removesuffix(".py"), None)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a student's module, None for every other name."""
        if f"{fullname}.py" not in self.names:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run the student's file; syntax errors and all others come out as they are."""
        name = f"{module.__name__}.py"
        module.__file__ = name
        if name in self.files:
            code = compiled(self.files[name], name)
            self.own_codes.update(codes_in(code))
            exec(code, module.__dict__)
        module.__dict__.update(self.parts.get(name, {}))

    def endless(self, frames: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return where a program that was stopped goes round: the outermost loop it is in, the same in every run."""
        for frame in frames:
            if line := outermost_loop(self.files.get(frame["file"], b""), frame["line"]):
                return {**frame, "line": line}
        return frames[-1]

    def survey(self, exercise: str, forbidden: Sequence[str]) -> dict[str, Any]:
        """Return what the syntax of an exercise's file says."""
        return survey(self.files[f"{exercise}.py"], tuple(forbidden))
