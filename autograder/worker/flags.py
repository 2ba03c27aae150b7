"""Read a file for what no honest program of the course needs: a person looks at it, and it costs no points.

`syntax` finds the calls that an exercise forbids, where they are plainly written. There are endless other ways to a
call. So this module asks the opposite: does the file use anything but what course.toml calls usual, or reach it in an
odd way? It reads the text alone. Only a library that is loaded already is asked which of its names are modules.

An honest program reaches a library by `module.name`, with the name written out. A module that is handed on, a name that
is computed, a private name and a module within a module are a flag each, whatever is done with them: so it does not
matter how many ways there are.
"""

import ast
import builtins
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, NamedTuple

from autograder.protocol import BODIES_OF, SURVEY_FLAGS, Usual, cut

from .syntax import (
    FUNCTIONS,
    aliases,
    bound_names,
    builtins_in,
    chain,
    dotted,
    forbidden_calls,
    imported,
    parsed,
)

Row = tuple[int, str, str]
"""A line, what was found there, and why that is odd."""

_VALUES: tuple[object, ...] = (0, [], {}, "", b"", frozenset(), iter(()), (lambda: 0), (n for n in range(0)))
_REFLECTION = {
    *("__closure__", "__code__", "__defaults__", "__delattr__", "__dict__", "__dir__", "__get__", "__getattribute__"),
    *("__getstate__", "__globals__", "__builtins__", "__init_subclass__", "__kwdefaults__", "__reduce__", "__self__"),
    *("__reduce_ex__", "__setattr__", "__subclasshook__"),
}
PUBLIC = (frozenset(name for value in _VALUES for name in dir(value) if name.startswith("__")) - _REFLECTION) | {
    *("__all__", "__annotations__", "__author__", "__debug__", "__file__", "__main__", "__post_init__", "__slots__"),
    *("__version__", "__enter__", "__exit__", "__matmul__", "__rmatmul__", "__imatmul__", "__setitem__", "__delitem__"),
    *("__array__", "__missing__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__bool__", "__truediv__"),
}
"""Names between double underscores that programs may write: those of operators, containers and contexts."""

_GETTERS = ("getattr", "setattr", "delattr")
_MAKERS = ("collections.namedtuple", "typing.NamedTuple")
_COMPUTED, _MODULE, _PRIVATE, _PATCH = "way:computed-name", "way:module-as-value", "way:private", "way:patch"
_CLASS, _EARLIER, _UNLISTED = "way:computed-class", "way:earlier-file", "way:unlisted"


class Reading(NamedTuple):
    """What a file has for a person to look at, and which names of other files of the student it uses, with lines.

    The `readers` are methods that read computed attributes of `self`.
    """

    rows: tuple[Row, ...]
    uses: tuple[tuple[int, str], ...]
    readers: frozenset[str]


def flags(
    files: Mapping[str, bytes], exercise: str, forbidden: Sequence[str], usual: Usual, own: Collection[str] = ()
) -> list[list[Any]]:
    """Return file, line, name and reason of everything that a person should look at in an exercise.

    `own` has the names of other modules of the course. A call that the exercise forbids is odd in each file of the
    student that it imports too: a function there may do its work. Raises whatever `text_of` and `ast.parse` raise.
    """
    if not usual.odd:
        return []
    why = {entry: reason for reason, entries in usual.odd for entry in entries}
    modules = frozenset(own) | {name.removesuffix(".py") for name in files}
    source = files[f"{exercise}.py"]
    reading = read(source, usual, modules)
    rows = [(f"{exercise}.py", *row) for row in reading.rows]
    refused = forbidden_calls(source, forbidden)
    if _EARLIER in why and not refused:
        hidden = forbidden_calls(source, forbidden, shadowed=True)
        rows += [(f"{exercise}.py", int(line), str(name), why[_EARLIER]) for name, line in hidden]
    waiting, seen = list(reading.uses), {exercise}
    while waiting:
        other = waiting.pop()[1].partition(".")[0]
        if other in seen or f"{other}.py" not in files:
            continue
        seen.add(other)
        source = files[f"{other}.py"]
        try:
            earlier, held = read(source, usual, modules), borrowed(source, modules)
            found = forbidden_calls(source, forbidden) if _EARLIER in why else []
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # its own exercise reports that
        waiting += earlier.uses
        rows += [(f"{other}.py", int(line), str(name), why[_EARLIER]) for name, line in found]
        for line, name in reading.uses:
            module, *names = name.split(".")
            entry = _MODULE if held.intersection(names[:1]) else _COMPUTED
            if module == other and entry in why and (entry == _MODULE or earlier.readers.intersection(names[1:])):
                rows.append((f"{exercise}.py", line, name, why[entry]))
    return [[file, line, cut(name), reason] for file, line, name, reason in dict.fromkeys(rows)][:SURVEY_FLAGS]


@lru_cache(maxsize=64)
def borrowed(source: bytes, own: frozenset[str]) -> frozenset[str]:
    """Return the names of a file that are those of a library: another file gets them from the library itself."""
    meanings = aliases(source, shadowed=True)
    return frozenset(name for name, of in meanings.items() if any(_owner(meaning, own) is None for meaning in of))


@lru_cache(maxsize=64)
def read(source: bytes, usual: Usual, own: frozenset[str]) -> Reading:
    """Read one file; `own` are the modules of the course."""
    reader = _Reader(source, usual, own)
    rows: dict[int, Row] = {}
    for line, name, entry in reader.rows():
        if entry in reader.why:
            rows.setdefault(line, (line, name, reader.why[entry]))  # the reason that knows the name comes first
    return Reading(tuple(rows[line] for line in sorted(rows)), tuple(reader.uses), frozenset(reader.readers.values()))


def _owner(name: str, own: frozenset[str]) -> str | None:
    """Return the dotted name without the package of the course, if it is in a module of the course."""
    short = name.removeprefix("exercises.")
    return short if short.split(".")[0] in own else None


class _Reader:
    """Reads the nodes of a file, and yields line, name and entry of what is odd."""

    def __init__(self, source: bytes, usual: Usual, own: frozenset[str]) -> None:
        nodes = self.nodes = parsed(source)
        self.own = own
        self.names = frozenset(usual.names)
        self.usual_patterns = [name for name in usual.names if "*" in name]
        self.why = {entry: reason for reason, entries in usual.odd for entry in entries}
        self.patterns = [entry for entry in self.why if "*" in entry]
        self.meanings = aliases(source, shadowed=True)
        self.known: dict[tuple[str, bool], list[tuple[str, str]]] = {}
        self.uses: list[tuple[int, str]] = []
        self.calls = [node for node in nodes if isinstance(node, ast.Call)]
        self.inside = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        self.inside |= {id(node.args[0]) for node in self.calls if chain(node)}
        self.callees = {id(node.func) for node in self.calls}
        owners = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self.in_classes = {id(node): node for owner in owners for node in _body(owner)}
        self.bases = {id(base) for owner in owners for base in owner.bases}
        self.classes = {owner.name for owner in owners}
        self.readers = {id(call): name for method in self.in_classes.values() for name, call in _own_getters(method)}
        self.renamed = {
            id(node.value)
            for node in nodes
            if isinstance(node, ast.Assign) and id(node) not in self.in_classes
            if all(isinstance(target, ast.Name) for target in node.targets)
        }
        self.types = {id(node.value) for node in nodes if isinstance(node, ast.Subscript)}
        self.types |= {id(node.annotation) for node in nodes if isinstance(node, ast.arg | ast.AnnAssign)}
        self.types |= {id(arg) for node in self.calls if chain(node.func)[-1:] == ["isinstance"] for arg in node.args}
        strings = (node.value for node in nodes if isinstance(node, ast.Constant))
        stored = (node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
        self.defined = {*bound_names(nodes), *stored, *(text for text in strings if isinstance(text, str))}

    def rows(self) -> Iterator[Row]:
        """Yield everything that is odd."""
        for name, line in imported(self.nodes):
            yield from self._of_name(name.removesuffix(".*"), line, is_import=True)
        names = {node.id for node in self.nodes if isinstance(node, ast.Name)}.intersection(self.why)
        yield from ((line, name, name) for name, line in builtins_in(self.nodes[0], names, FUNCTIONS) if name in names)
        yield from ((line, "getattr", _COMPUTED) for line in self._unbound())
        for node in self.nodes:
            line = getattr(node, "lineno", 1)
            if isinstance(getattr(node, "ctx", None), ast.Store):
                pass
            elif isinstance(node, ast.Name | ast.Attribute | ast.Call) and id(node) not in self.inside:
                for meaning in dotted(node, self.meanings):
                    yield from self._of_name(meaning, line, is_import=id(node) in self.renamed)
            match node:
                case ast.Attribute(attr=name):
                    yield from self._of_attribute(name, line, is_of_library=self._is_of_library(node, name))
                    yield from self._of_patch(node, node, line)
                case ast.Subscript():
                    yield from self._of_patch(node, node.value, line)
                case ast.Name(id=name):
                    yield from self._of_plain_name(node, name, line)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    yield line, name, f".{name}"
                case ast.MatchClass(kwd_attrs=names_of):
                    for name in names_of:
                        yield from self._of_attribute(name, line)
                case ast.Call(func=ast.Name(id=name)) if name in (*_GETTERS, "type"):
                    yield from self._of_call(node, name, line)
                case ast.ClassDef():
                    yield from self._of_class(node, line)
                case ast.Import() | ast.ImportFrom() if id(node) in self.in_classes:
                    yield line, "import", _MODULE

    def _unbound(self) -> Iterator[int]:
        """Yield the lines on which a class, or a method of one, is handed on that reads computed attributes of `self`.

        Without its object, such a method reads the attributes of anything.
        """
        names, plain = set(self.readers.values()), self.callees | self.types | self.bases
        for node in self.nodes if names else ():
            match node:
                case ast.Attribute(value=owner, attr=name) if name in names:
                    if not chain(owner) or chain(owner)[0] in self.classes or "__class__" in chain(owner):
                        yield node.lineno
                case ast.Name(id=name, ctx=ast.Load()) if name in self.classes and id(node) not in plain:
                    yield node.lineno

    def _of_name(self, name: str, line: int, *, is_import: bool = False) -> Iterator[Row]:
        """Judge a dotted name; one that is imported, or gets another name, is followed from there."""
        own = _owner(name, self.own)
        if own is not None:
            self.uses.append((line, own))
        if (name, is_import) not in self.known:
            judged = self._judged(name, is_import=is_import) if own is None else []
            is_whole = own is not None and "." not in own and not is_import
            self.known[name, is_import] = [*judged, *([(name, _MODULE)] if is_whole else [])]
        yield from ((line, found, entry) for found, entry in self.known[name, is_import])

    def _judged(self, name: str, *, is_import: bool) -> Iterator[tuple[str, str]]:
        """Yield what is odd about a name of a library, with the entry that says so."""
        parts = name.split(".")
        heads = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        yield from ((head, head) for head in heads)
        yield from ((name, entry) for entry in self.patterns if fnmatchcase(name, entry))
        if any(fnmatchcase(name, pattern) for pattern in self.usual_patterns):
            return
        known = next((count for count in range(len(heads), 0, -1) if heads[count - 1] in self.names), 0)
        is_partly_usual = any(usual.startswith(f"{parts[0]}.") for usual in self.names)
        if known == len(parts) or (not known and len(parts) == 1 and is_partly_usual):
            if not is_import and _is_module(name):
                yield name, _MODULE
        elif known and _is_module(heads[known - 1]):
            if parts[known].startswith("_") and parts[known] not in PUBLIC:
                yield heads[known], _PRIVATE
            elif inner := next((head for head in heads[known:] if _is_module(head)), None):
                yield inner, _UNLISTED
        elif not known and parts[0] not in vars(builtins):
            yield heads[1 if is_partly_usual else 0], _UNLISTED

    def _of_attribute(self, name: str, line: int, *, is_of_library: bool = False) -> Iterator[Row]:
        yield line, name, f".{name}"
        is_public = name in PUBLIC if _is_dunder(name) else name in self.defined or is_of_library
        if name.startswith("_") and not is_public and f".{name}" not in self.names:
            yield line, name, _PRIVATE

    def _is_of_library(self, node: ast.expr, attribute: str) -> bool:
        return attribute.startswith("_") and bool(dotted(node, self.meanings))

    def _of_plain_name(self, node: ast.Name, name: str, line: int) -> Iterator[Row]:
        if isinstance(node.ctx, ast.Store):
            yield line, name, f".{name}"
        elif _is_dunder(name) and name not in PUBLIC:
            yield line, name, _PRIVATE
        elif name in _GETTERS and id(node) not in self.callees:
            yield line, name, _COMPUTED
        elif name == "type" and id(node) not in self.callees | self.types:
            yield line, name, _CLASS

    def _of_patch(self, node: ast.Attribute | ast.Subscript, target: ast.expr, line: int) -> Iterator[Row]:
        if not isinstance(node.ctx, ast.Load):
            yield from ((line, name, _PATCH) for name in dotted(target, self.meanings))

    def _of_call(self, node: ast.Call, name: str, line: int) -> Iterator[Row]:
        """Judge a call of `type`, or one that reads or writes an attribute whose name is a value."""
        if name == "type":
            yield from [(line, name, _CLASS)] if len(node.args) != 1 or node.keywords else []
            return
        match node.args:
            case [owner, ast.Constant(value=str(attribute)), *_]:
                yield from self._of_attribute(attribute, line, is_of_library=self._is_of_library(owner, attribute))
            case [_, _, *_] if name != "getattr" or id(node) in self.readers:
                pass
            case _:
                yield line, name, _COMPUTED
        if name != "getattr" and node.args:
            yield from ((line, of, _PATCH) for of in dotted(node.args[0], self.meanings))

    def _of_class(self, node: ast.ClassDef, line: int) -> Iterator[Row]:
        for base in node.bases:
            head = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(head, ast.Call) and set(dotted(head.func, self.meanings)) & set(_MAKERS):
                continue
            meanings = dotted(head, self.meanings)
            for entry in (f"class:{kind}" for meaning in meanings for kind in _kinds(meaning)):
                yield line, f"class {node.name}", entry
            is_plain = isinstance(head, ast.Name) and (head.id in self.classes or head.id in vars(builtins))
            if not meanings and not is_plain:
                yield line, f"class {node.name}", _CLASS
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and dotted(keyword.value, self.meanings) != ["abc.ABCMeta"]:
                yield line, f"class {node.name}", _CLASS


def _body(owner: ast.ClassDef) -> Iterator[ast.AST]:
    """Yield the statements of a class that run when it is made, those in loops and conditions too."""
    rest: list[ast.AST] = list(owner.body)
    while rest:
        node = rest.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            rest += [child for name in BODIES_OF[type(node)] for child in getattr(node, name)]


def _own_getters(method: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls `getattr(self, name)` of a method without decorators, with the name of the method."""
    if isinstance(method, ast.FunctionDef) and not method.decorator_list:
        for node in ast.walk(method):
            match node:
                case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="self"), _]):
                    yield method.name, node


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name.isidentifier()


def _is_module(name: str) -> bool:
    """Say whether a dotted name is a module, as far as the libraries that are loaded know."""
    owner, _, leaf = name.rpartition(".")
    if not owner or name in sys.modules:
        return True
    module = sys.modules.get(owner)
    if module is None:
        return leaf in sys.stdlib_module_names or leaf in sys.modules  # it may import any of these
    if leaf in vars(module):
        return isinstance(vars(module)[leaf], ModuleType)
    path = vars(module).get("__path__")
    return path is not None and PathFinder.find_spec(name, path) is not None


def _kinds(name: str) -> Iterable[str]:
    """Return the names of a class and of those above it; the name alone of a class that is not loaded."""
    owner, _, leaf = name.rpartition(".")
    kind = vars(sys.modules[owner]).get(leaf) if owner in sys.modules else None
    return {name, *(f"{above.__module__}.{above.__qualname__}" for above in getattr(kind, "__mro__", ()))}


__all__ = ["Reading", "flags", "read"]
