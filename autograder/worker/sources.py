"""Make the student's files importable from memory: only the expected names, and no other file."""

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import linecache
import sys
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from inspect import Parameter, Signature
from types import CodeType, ModuleType
from typing import Any

from autograder.protocol import (
    CALL_CODE,
    CLASS,
    FORMAT,
    FUNCTION,
    JUMP,
    MOST_NAME,
    MOVE,
    NEXT,
    RETURN,
    SURVEY_HELPERS,
    TUPLE,
    UNLESS,
    Usual,
    code_of,
)

from .syntax import dotted_names, flags, outermost_loop, survey

# Build reference parts, which replace a student's wrong exercise, from tables of numbers.
#
# The tables are data of the job (see `autograder.protocol.frames`). They become functions and classes before any
# of the student's code runs. While it runs, `build` refuses, so that a submission cannot build the answers for
# itself.

Row = tuple[Any, ...]

_closed = False


class PartError(Exception):
    """A reference part cannot be built, or may not be built now."""


def build(data: bytes, module: str) -> dict[str, Any]:
    """Return the functions and classes of a part by name, as if `module` defined them. Raises `PartError`."""
    if _closed:
        raise PartError("only the checks may build a reference part")
    part = json.loads(data)
    if part.get("format") != FORMAT:
        raise PartError(f"{module}: the reference part has format {part.get('format')}, expected {FORMAT}")
    pool: list[Any] = [None] * len(part["pool"])
    texts = part["pool"]
    items: list[Any] = []
    for kind, name, *rest in part["items"]:
        item = _function(texts, pool, *rest) if kind == FUNCTION else _class(kind, items, *rest)
        item.__name__ = item.__qualname__ = texts[name]
        item.__module__ = module
        items.append(item)
    # The pool is the end of each function's registers, so that -1 is its first entry.
    pool[:] = [_constant(entry, items) for entry in reversed(texts)]
    return {name: items[number] for name, number in part["exports"].items()}


def close(closed: bool) -> None:
    """Refuse to build parts from now on, as a student's code may run, or allow it again."""
    global _closed
    _closed = closed


def _constant(entry: Any, items: Sequence[Any]) -> Any:
    match entry:
        case [int(number)]:
            return items[number]
        case [str(dotted)]:
            return _library(dotted)
    return entry


def _library(dotted: str) -> Any:
    names = dotted.split(".")
    owner: Any = importlib.import_module(names[0])
    for name in names[1:]:
        owner = getattr(owner, name)
    return owner


def _class(kind: int, items: Sequence[Any], methods: Sequence[int]) -> type:
    from autograder.checks import ReferencePart  # torch, which plain courses do not load

    bases = (ReferencePart,) if kind == CLASS else ()
    return type("part", bases, {items[number].__name__: items[number] for number in methods})


def _function(
    texts: Sequence[Any],
    pool: list[Any],
    registers: int,
    names: Sequence[int],
    defaults: Sequence[int],
    rows: Sequence[Sequence[int]],
) -> Callable[..., Any]:
    code = [_row(row, texts) for row in rows]
    blank = [None] * (registers - len(names))
    signature = _signature([texts[name] for name in names], [texts[default] for default in defaults])

    def part(*args: Any, **named: Any) -> Any:
        if named or len(args) != len(names):
            args = _bound(part.__name__, signature, args, named)
        return _run(code, [*args, *blank, *pool])

    part.__signature__ = signature  # type: ignore[attr-defined]
    return part


def _signature(names: Sequence[str], defaults: Sequence[Any]) -> Signature:
    padded = [Parameter.empty] * (len(names) - len(defaults)) + list(defaults)
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature([Parameter(name, kind, default=default) for name, default in zip(names, padded, strict=True)])


def _bound(name: str, signature: Signature, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    try:
        bound = signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{name}() was called with the wrong arguments: {error}") from None
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def _row(row: Sequence[int], texts: Sequence[Any]) -> Row:
    """Return a row in the form that `_run` reads: positional and keyword operands of a call are separate tuples."""
    if row[0] != CALL_CODE:
        return tuple(row)
    _, target, callee, count, *operands = row
    rest = operands[count:]
    named = tuple((texts[-1 - key], operand) for key, operand in zip(rest[::2], rest[1::2], strict=True))
    return CALL_CODE, target, callee, tuple(operands[:count]), named


def _run(code: Sequence[Row], registers: list[Any]) -> Any:
    """Run the rows of a function until it returns or raises; the most frequent operations come first."""
    counter = 0
    while True:
        row = code[counter]
        counter += 1
        operation = row[0]
        if operation == CALL_CODE:
            _, target, callee, operands, named = row
            args = [registers[operand] for operand in operands]
            registers[target] = registers[callee](*args, **{name: registers[operand] for name, operand in named})
        elif operation == TUPLE:
            registers[row[1]] = tuple([registers[operand] for operand in row[2:]])
        elif operation == MOVE:
            registers[row[1]] = registers[row[2]]
        elif operation == JUMP:
            counter = row[1]
        elif operation == UNLESS:
            counter = counter if registers[row[1]] else row[2]
        elif operation == NEXT:
            try:
                registers[row[1]] = next(registers[row[2]])
            except StopIteration:
                counter = row[3]
        elif operation == RETURN:
            return registers[row[1]]
        else:
            raise ValueError(registers[row[1]])


# The second name of a student's module: `exercises.ex05_attention` is the module `ex05_attention`.
#
# Editors insert imports under this name when the folder of the course is open. The package is made here and has no
# path: nothing but the student's files can be imported from it.

PACKAGE = "exercises"
"""The name of a course's folder in which students write."""


class PackageLoader(Loader):
    """Loads the package, and each module in it as the module of its short name."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the student's module in place of a module of the package; raises whatever its import raises."""
        package, _, name = module.__name__.rpartition(".")
        if package:
            sys.modules[module.__name__] = importlib.import_module(name)


def short_name(fullname: str) -> str:
    """Return the name of a module without the package: the file's own name."""
    return fullname.removeprefix(f"{PACKAGE}.")


def package_spec(fullname: str) -> ModuleSpec:
    """Return the spec of the package, or of a module in it that exists under its short name."""
    return ModuleSpec(fullname, PackageLoader(), is_package=fullname == PACKAGE)


# Find what a student's code uses of an earlier exercise beside the names that its reference part replaces.


def own_helpers(files: Mapping[str, bytes], parts: Mapping[str, Collection[str]], exercise: str) -> list[str]:
    """Return `module.name` of what an exercise uses of replaced files beside the names of their parts.

    It follows the imports of files that are not replaced, since their code runs too.
    """
    found, seen = set[str](), set[str]()
    waiting = [exercise]
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for name in _names(files.get(f"{module}.py", b"")):
            owner, _, inner = short_name(name).partition(".")
            helper = inner.partition(".")[0]
            if (part := parts.get(f"{owner}.py")) is None:
                waiting += [owner] if f"{owner}.py" in files and owner not in seen else []
            elif helper.isidentifier() and helper not in part and len(f"{owner}.{helper}") <= MOST_NAME:
                found.add(f"{owner}.{helper}")
    return sorted(found)[:SURVEY_HELPERS]


def _names(source: bytes) -> Collection[str]:
    try:
        return dotted_names(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


# What a notebook has besides Python: `display`, `get_ipython`, and `await` outside of a function.

_LONGEST_SECONDS = 0.05


class _Nothing:
    """Stands in for the shell of a notebook: every method may be called, and does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


OF_NOTEBOOKS: Mapping[str, Any] = {"display": _nothing, "get_ipython": _Nothing}
"""Names that a file may use as in a notebook; a script that Jupyter exports does so too."""


def run(code: CodeType, names: dict[str, Any]) -> None:
    """Run a file. If it awaits something outside of a function, wait for it, as Jupyter does."""
    waits = eval(code, names)
    if code.co_flags & inspect.CO_COROUTINE:
        _wait_for(waits)


class _Clock:
    """Takes the place of the selector of a loop: no file is ever ready, so it only lets time pass."""

    def select(self, seconds: float | None) -> list[Any]:
        time.sleep(_LONGEST_SECONDS if seconds is None else min(seconds, _LONGEST_SECONDS))
        return []


def _wait_for(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine without a socket, which the sandbox forbids and every loop of asyncio opens."""
    import asyncio  # which few files need

    class Loop(asyncio.BaseEventLoop):
        def __init__(self) -> None:
            super().__init__()
            self._selector = _Clock()

        def _process_events(self, events: list[Any]) -> None:
            """Do nothing: there are no files."""

        def _write_to_self(self) -> None:
            """Do nothing: the clock wakes up by itself."""

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(coroutine)


ENGINE = "autograder"
"""The grader's own package, which is no library for students: every exercise refuses a file that uses it."""


UNREAD = "the reader of flags failed on it"
"""Why a file has a flag whose other flags are not known."""


@lru_cache(maxsize=128)
def compiled(source: bytes, file: str) -> CodeType:
    """Compile a file, once for all jobs; raises whatever `compile` raises."""
    return code_of(source, file)


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `ex05_attention` from the bytes of `ex05_attention.py`, before anything else on the path.

    The same module is also `exercises.ex05_attention` (see `autograder.worker.sources`).

    If a file has a reference part, the part replaces the contract's names in that module; the student's other names
    stay. Parts are built in the constructor, before any of the student's code runs. Raises `PartError`.
    """

    def __init__(self, files: Mapping[str, bytes], reference_parts: Mapping[str, bytes]) -> None:
        self.files = files
        self.parts = {name: build(data, name.removesuffix(".py")) for name, data in reference_parts.items()}
        self.names = frozenset({*files, *reference_parts})
        self._hiding = False
        self._builtins: dict[str, Mapping[str, Any]] = {}

    def install(self) -> None:
        """Make the files importable. Until `uninstall`, nobody can build a reference part."""
        close(True)
        self._forget()
        sys.meta_path.insert(0, self)
        linecache.clearcache()

    def uninstall(self) -> None:
        """Make the files importable no more, and forget the modules loaded from them."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._forget()
        close(False)

    def _forget(self) -> None:
        for name in self.names:
            sys.modules.pop(name.removesuffix(".py"), None)
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]

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

    def get_source(self, fullname: str) -> str | None:
        """Return the text of a student's module, for libraries that read the functions they are given."""
        source = self.files.get(f"{fullname}.py")
        return None if source is None else importlib.util.decode_source(source)

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

    def survey(self, exercise: str, forbidden: Sequence[str], usual: Usual) -> dict[str, Any]:
        """Return the survey of an exercise's file (see `autograder.worker.syntax`), with helpers and flags."""
        banned = (*forbidden, ENGINE)
        found = survey(self.files[f"{exercise}.py"], banned)
        helpers = own_helpers(self.files, self.parts, exercise) if self.parts else []
        own = [name.removesuffix(".py") for name in self.names]
        try:
            odd = flags(self.files, exercise, banned, usual, own)
        except Exception as error:  # a program loses nothing by a flag, so it must not lose its survey by one
            odd = [[f"{exercise}.py", 1, type(error).__name__, UNREAD]]
        return {**found, "helpers": helpers, "flags": odd}
