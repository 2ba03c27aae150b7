"""Refuse what an exercise forbids in the student's files: modules, builtins, functions and methods.

`syntax` finds what a file mentions. Most of the rest is stopped while the exercise runs:

- A builtin or an import raises in the student's files, since they get a table of builtins of their own.
- A function of Python or C, and a method like `list.sort`, raises where the student's files call it, whatever its name.

Library code, and the checks, may call everything. This keeps honest programs honest and gives clear messages. It is
no security boundary: a program can undo it, in ways that `flags` shows to a person.
"""

import builtins
import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from autograder.protocol import PACKAGE, is_package, is_syntax


class ForbiddenCallError(Exception):
    """A program made a call that the exercise forbids; the message is its name."""


class Ban:
    """Refuses names in the student's files."""

    def __init__(self, names: Sequence[str], files: Collection[str]) -> None:
        self.names = [name.removeprefix(PACKAGE) for name in names if not is_syntax(name)]
        self._files = files
        self._codes: dict[CodeType, str] = {}
        self._callables: dict[int, str] = {}
        self._kept: list[Any] = []
        self._methods: dict[tuple[type, str], str] = {}
        for name in names:
            if not (is_syntax(name) or is_package(name)):  # a package that is not a library is never imported
                self._add(name)
        self._violated: str | None = None
        self._watching = bool(self._codes or self._callables or self._methods)

    def _add(self, name: str) -> None:
        """Record the functions behind a name: of a module, all that are reached through it."""
        owner, _, attribute = name.rpartition(".")
        if name in vars(builtins):
            found = vars(builtins)[name]
            if not isinstance(found, type):  # one of the file's own builtins refuses a type
                self._add_callable(found, name)
            return
        if isinstance(kind := vars(builtins).get(owner), type):
            self._methods[kind, attribute] = name
            return
        found = resolve(name.partition("*")[0].rpartition(".")[0] if "*" in name else name)
        if isinstance(found, ModuleType):
            for own, value in vars(found).items():
                dotted = f"{found.__name__}.{own}"
                if _is_defined_in(value, found) and ("*" not in name or fnmatchcase(dotted, name)):
                    self._add_callable(value, dotted)
        elif found is not None and "*" not in name:
            self._add_callable(found, name)

    def _add_callable(self, value: Any, name: str) -> None:
        code = getattr(getattr(value, "__func__", value), "__code__", None)
        if isinstance(code, CodeType):
            self._codes[code] = name
        elif isinstance(value, type):
            own = [part for part in vars(value).values() if isinstance(part, FunctionType)]
            self._codes.update({part.__code__: name for part in own})
        elif callable(value) and not hasattr(type(value).__call__, "__code__"):  # which no event of a call names
            self._callables[id(value)] = name
            self._kept.append(value)  # else Python could give its id to another object
            if isinstance(owner := getattr(value, "__objclass__", None), type):
                self._methods[owner, value.__name__] = name

    def begin(self) -> None:
        """Watch the calls of the student's files."""
        if self._watching:
            sys.setprofile(self._on_event)

    def end(self) -> None:
        """Watch no more."""
        if self._watching:
            sys.setprofile(None)

    def check(self) -> None:
        """Raise `ForbiddenCallError` if a program made a call and caught the error."""
        if self._violated is not None:
            raise ForbiddenCallError(self._violated)

    def builtins(self) -> Mapping[str, Any] | None:
        """Return the builtins of the student's files; None for those of Python."""
        if not self.names:
            return None
        refused = {name: refusing(name) for name in self.names if name in vars(builtins)}
        return {**vars(builtins), **refused, "__import__": self._importing(vars(builtins)["__import__"])}

    def _importing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        names = [name for name in self.names if name not in vars(builtins)]

        def refusing(name: str, *args: Any, **kwargs: Any) -> Any:
            parts = name.split(".")
            above = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
            if (found := next((banned for banned in names if banned in above), None)) is not None:
                raise ForbiddenCallError(found)
            return original(name, *args, **kwargs)

        return refusing

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            caller = frame.f_back
            name = self._codes.get(frame.f_code) if caller is not None and self._is_own(caller) else None
        elif event == "c_call":
            name = self._name_of(argument) if self._is_own(frame) else None
        else:
            return
        if name is not None:
            self._violated = name
            raise ForbiddenCallError(name)

    def _is_own(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename in self._files

    def _name_of(self, call: Any) -> str | None:
        found = self._callables.get(id(call))
        if found is not None or not self._methods:
            return found
        owner = getattr(call, "__self__", None)
        kind = owner if isinstance(owner, type) else getattr(call, "__objclass__", type(owner))
        return next(filter(None, (self._methods.get((base, call.__name__)) for base in kind.__mro__)), None)


def _is_defined_in(value: Any, module: ModuleType) -> bool:
    """Say whether a module defines a callable itself, or its part in C does: `_bisect` for `bisect`."""
    home = getattr(value, "__module__", None) or type(getattr(value, "__self__", None)).__module__
    return callable(value) and home.split(".")[0].lstrip("_") == module.__name__.split(".")[0].lstrip("_")


def refusing(name: str) -> Callable[..., None]:
    """Return a function that refuses a call of this name."""

    def refuse(*_: Any, **__: Any) -> None:
        raise ForbiddenCallError(name)

    return refuse


@contextmanager
def forbid(names: Sequence[str], files: Collection[str]) -> Iterator[Ban]:
    """Make what these names stand for raise `ForbiddenCallError` in the student's files, within the block."""
    ban = Ban(names, files)
    try:
        ban.begin()
        yield ban
    finally:
        ban.end()


def resolve(name: str) -> object | None:
    """Return the object of a dotted name; None if this machine has no such object."""
    parts = name.split(".")
    try:
        owner: object = importlib.import_module(parts[0])
    except ImportError:
        return None
    for at, part in enumerate(parts[1:], start=1):
        found = getattr(owner, part, None)
        if found is None:
            try:
                found = importlib.import_module(".".join(parts[: at + 1]))
            except ImportError:
                return None
        owner = found
    return owner
