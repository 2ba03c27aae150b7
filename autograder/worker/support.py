"""What a worker does for the libraries of a course: inputs, observations, resets, traces and bans.

A worker loads only the libraries that the course declares, and only the code that knows them. The support of plain
Python is the base: that of a library does more.
"""

import importlib
import random
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Protocol

from autograder.checks import PlainGiven, nearest_name
from autograder.protocol import Value

from .line_tracing import LineTracing, describe
from .syntax import Ban, forbid

KNOWN = ("matplotlib", "networkx", "numpy", "pandas", "scipy", "sklearn", "sympy", "torch", "transformers", "triton")
"""Libraries whose misspelt names are corrected: to install what has nearly such a name may be harmful."""

NEAR = 0.8
"""How similar a name must be: one letter of five may be missing, and other libraries are not alike."""


class LibraryMissing(Exception):
    """A library of the course cannot be loaded; the message is a sentence."""


class Trace(Protocol):
    """A context that records what a program computes."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *_: Any) -> Any: ...

    def as_data(self, returned: Any = None) -> dict[str, Value]:
        """Return the trace as data, with the steps that made the returned value."""
        ...


class PlainSupport:
    """Support for a course of plain Python."""

    libraries: frozenset[str] = frozenset()

    def start(self) -> None:
        """Prepare a new worker process."""

    def missing_device(self, name: str) -> str | None:
        """Return a sentence if a device cannot be used here."""
        return None if name == "cpu" else f"this course has no devices; leave --device {name} out"

    def given(self, seed: int, sizes: Mapping[str, int], device: str, *, exact: bool, traced: bool) -> PlainGiven:
        """Return the inputs of a trial."""
        return PlainGiven(seed, sizes, device, exact=exact, traced=traced)

    def reset(self, seed: int, device: str) -> None:
        """Restore what a student's code may have changed in the libraries, and seed their generators."""
        del device
        random.seed(seed)

    def observe(self, value: Any) -> Value | None:
        """Return a value of the libraries as data; None for every other value."""
        del value
        return None

    def tracing(self, names: Collection[str], files: Mapping[str, bytes], *, parts: bool) -> Trace:
        """Return a context that records what the student's files compute."""
        del parts
        return LineTracing(names, files)

    def forbid(self, names: Sequence[str], files: Collection[str]) -> AbstractContextManager[Ban]:
        """Return a context in which the student's files cannot call what these entries name."""
        return forbid(names, files)

    def prepare(self, checks: bytes) -> None:
        """Load what the checks of this text use and a program should not wait for."""

    def fault_kind(self, error: BaseException) -> str | None:
        """Return the kind of an exception that the libraries' support raises; None for every other one."""
        del error
        return None

    def misplaced(self, frame: FrameType, error: BaseException) -> str | None:
        """Return the name in a frame of the tensor that an exception is about."""
        del frame, error
        return None

    def values(self, frame: FrameType, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return names and short descriptions of the values in a frame, those of `names` first."""
        first = [name for name in names if name in frame.f_locals]
        every = dict.fromkeys([*first, *frame.f_locals])
        described = ((name, describe(frame.f_locals[name])) for name in every)
        return [(name, text) for name, text in described if text is not None]

    def warm_up(self, checks: Mapping[str, bytes]) -> None:
        """Run what is slow at its first use, in a process that others are forked from."""


_loaded = PlainSupport()


def loaded() -> PlainSupport:
    """Return the support of the libraries that are loaded."""
    return _loaded


def load_support(libraries: Sequence[str]) -> None:
    """Load the libraries of a course, unless they are. Raises `LibraryMissing`."""
    global _loaded
    if not _loaded.libraries.issuperset(libraries):
        _loaded = _support_of(libraries)
        _loaded.libraries = frozenset(libraries)


def _support_of(libraries: Sequence[str]) -> PlainSupport:
    for name in libraries:
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:
            near = None if name in KNOWN else nearest_name(name, KNOWN, NEAR)
            install = f"install it as the README of the course says, or with `pip install {name}`"
            remedy = f"did you mean {near}?" if near else install
            raise LibraryMissing(f"{name} cannot be imported: {error}; the course needs it: {remedy}") from error
    if "torch" in libraries:
        from .tensors import TensorSupport  # the library of the course alone

        return TensorSupport()
    if "numpy" in libraries:
        from .arrays import ArraySupport  # the library of the course alone

        return ArraySupport()
    return PlainSupport()
