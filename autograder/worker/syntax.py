"""What a file does by its syntax alone, what an exercise forbids and refuses while it runs, and what is odd in it."""

import ast
import builtins
import importlib
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.machinery import PathFinder
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from autograder.protocol import (
    BODIES_OF,
    MOST_NAME,
    PACKAGE,
    SURVEY_ASSIGNMENTS,
    SURVEY_FLAGS,
    SURVEY_FORBIDDEN,
    SURVEY_OWNERS,
    SURVEY_PLACES,
    SURVEY_RETURNS,
    SURVEY_WORDS,
    Usual,
    bound_names,
    cut,
    function_definitions,
    functions,
    is_package,
    is_syntax,
    nodes_of,
    statements,
    text_of,
    uses_of_syntax,
    words_of,
)

Aliases = Mapping[str, Collection[str]]
"""What each name of a file may mean, as dotted names."""

LONGEST_ALIAS = 8
"""How many assignments in a row are followed from a name to its module."""

MOST_MEANINGS = 8
"""The meanings of one name that are followed: honest programs have one."""

_BUILT_IN = frozenset(dir(builtins))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (ast.Module, *FUNCTIONS)

NOTEBOOK_API = "autograder.notebook."
"""The module with which a notebook asks the kit: a file made from a notebook may still import it."""


@lru_cache(maxsize=64)
def survey(source: bytes, forbidden: tuple[str, ...]) -> dict[str, Any]:
    """Return where the functions of a file begin and return, the forbidden calls it names, and its statements.

    Raises whatever `text_of` and `ast.parse` raise.
    """
    nodes = parsed(source)
    tree: Any = nodes[0]
    own = list(_functions(tree))
    return {
        "places": places(own),
        "forbidden": forbidden_calls(source, forbidden),
        "assignments": assignments(own),
        "functions": [list(function) for function in functions(tree)],
        "statements": [list(statement[:4]) for statement in statements(tree, nodes)],
        "words": words(tree),
    }


def words(tree: ast.Module) -> dict[str, list[str]]:
    """Return the words that the functions and classes of a file use, as many as a report of the worker may have."""
    short = {
        owner: sorted(word for word in found if len(word) <= MOST_NAME)[:SURVEY_WORDS]
        for owner, found in words_of(tree).items()
        if len(owner) <= MOST_NAME
    }
    return dict(list(short.items())[:SURVEY_OWNERS])


@lru_cache(maxsize=32)
def parsed(source: bytes) -> list[ast.AST]:
    """Return the nodes of a file, the whole tree first; raises whatever `text_of` and `ast.parse` raise."""
    return nodes_of(ast.parse(text_of(source)))


@lru_cache(maxsize=64)
def named(source: bytes, *, shadowed: bool = False) -> frozenset[tuple[str, int]]:
    """Return the dotted names that a file imports or uses, with their lines; `shadowed` is that of `aliases`."""
    if shadowed and not _has_star(source):
        return named(source)
    nodes = parsed(source)
    return frozenset((*_used(nodes, aliases(source, shadowed=shadowed)), *imported(nodes)))


@lru_cache(maxsize=64)
def dotted_names(source: bytes) -> frozenset[str]:
    """Return the dotted names that a file imports or uses, aliases resolved; raises whatever `ast.parse` raises."""
    return frozenset(name for name, _ in named(source))


class _Function(NamedTuple):
    """A function or method: its names, the class it is in (or its own name), and the statements of its own body.

    `forward` of a class also has the name of the class.
    """

    names: tuple[str, ...]
    owner: str
    line: int
    statements: list[ast.stmt]


def _functions(tree: ast.Module) -> Iterator[_Function]:
    for name, node in function_definitions(tree):
        owner = name.rpartition(".")[0]
        names = (name, owner) if owner and node.name == "forward" else (name,)
        yield _Function(names, owner or name, node.lineno, list(_own_statements(node)))


def _own_statements(definition: ast.FunctionDef | ast.ClassDef) -> Iterator[ast.stmt]:
    """Yield the statements of a function or class, without those of functions and classes defined in it.

    Works without recursion, since a tree may be deeper than Python's stack.
    """
    stack: list[Any] = definition.body[::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in reversed(BODIES_OF[type(node)]):
                stack += reversed(getattr(node, name))


def places(functions: Sequence[_Function]) -> dict[str, list[int]]:
    """Return the line of the definition and of every return, for each function, and each class (of its `forward`)."""
    lines_of: dict[str, list[int]] = {}
    for function in functions:
        returns = [node.lineno for node in function.statements if isinstance(node, ast.Return)]
        lines = [function.line, *returns][:SURVEY_RETURNS]
        lines_of.update({name: lines for name in function.names if len(name) <= MOST_NAME})
    return dict(list(lines_of.items())[:SURVEY_PLACES])


def assignments(functions: Sequence[_Function]) -> list[list[str | int]]:
    """Return owner, name and line of every assignment to a name or an attribute of `self` in a function.

    The owner of a name is its function, the owner of an attribute its class.
    """
    assigned: list[list[str | int]] = []
    for function in functions:
        for node in function.statements:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                for target in _targets(node.targets if isinstance(node, ast.Assign) else [node.target]):
                    match target:
                        case ast.Name(id=variable):
                            assigned.append([function.names[0], variable, target.lineno])
                        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                            assigned.append([function.owner, f"self.{attribute}", target.lineno])
    short = [row for row in assigned if max(len(str(row[0])), len(str(row[1]))) <= MOST_NAME]
    return short[:SURVEY_ASSIGNMENTS]


def _targets(targets: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """Yield what is assigned to, one by one: `a, b = ...` assigns to two names."""
    rest = list(reversed(targets))
    while rest:
        target = rest.pop()
        if isinstance(target, ast.Tuple | ast.List):
            rest += reversed(target.elts)
        else:
            yield target.value if isinstance(target, ast.Starred) else target


@lru_cache(maxsize=64)
def names_within(source: bytes, first: tuple[int, int], last: tuple[int, int]) -> tuple[str, ...]:
    """Return the names between two positions, lines and columns, in their order; `a.b` stands before its `a`.

    Raises whatever `text_of` and `ast.parse` raise.
    """
    nodes = [node for node in ast.walk(ast.parse(text_of(source))) if isinstance(node, ast.Name | ast.Attribute)]
    spans = {node: ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)) for node in nodes}
    within = [node for node, (start, end) in spans.items() if first <= start and end <= last]
    in_order = sorted(within, key=lambda node: (node.lineno, node.col_offset, -(node.end_col_offset or 0)))
    return tuple(dict.fromkeys(".".join(names) for node in in_order if (names := chain(node))))


def outermost_loop(source: bytes, line: int) -> int | None:
    """Return the line of the outermost `while` or `for` around a line, or None."""
    loops = (node for node in ast.walk(ast.parse(text_of(source))) if isinstance(node, ast.While | ast.For))
    around = [node.lineno for node in loops if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return min(around, default=None)


def forbidden_calls(source: bytes, forbidden: Sequence[str], *, shadowed: bool = False) -> list[list[str | int]]:
    """Return `[dotted name, line]` of every mention of a forbidden name, or of a name below it, in a file.

    Resolves aliases, as `aliases` does, and `getattr` with a constant.
    """
    if not forbidden:
        return []
    forbidden = [entry.removeprefix(PACKAGE) for entry in forbidden]
    wanted = frozenset(name.split(".")[0] for name in forbidden)
    nodes = parsed(source)
    mentioned = {*named(source, shadowed=shadowed), *builtins_in(nodes[0], wanted)}
    found = {name for name in {name for name, _ in mentioned} if _is_forbidden(name, forbidden)}
    mentions = [(name, line) for name, line in mentioned if name in found]
    mentions += uses_of_syntax(nodes, forbidden)
    in_order = sorted(mentions, key=lambda mention: (mention[1], len(mention[0])))
    return [[cut(name), line] for name, line in in_order[:SURVEY_FORBIDDEN]]


def _is_forbidden(name: str, forbidden: Sequence[str]) -> bool:
    """Say whether a dotted name is one of these names, or below one; in them, `*` matches anything."""
    if f"{name}.".startswith(NOTEBOOK_API):
        return False
    return any(f"{name}.".startswith(f"{entry}.") or ("*" in entry and fnmatchcase(name, entry)) for entry in forbidden)


def _used(nodes: Sequence[ast.AST], meanings: Aliases) -> Iterator[tuple[str, int]]:
    for node in nodes:
        for name in dotted(node, meanings):
            yield name.removeprefix(f"{builtins.__name__}."), getattr(node, "lineno", 1)


def builtins_in(
    tree: ast.AST, wanted: Set[str], scopes: tuple[type[ast.AST], ...] = SCOPES
) -> Iterator[tuple[str, int]]:
    """Yield name and line of every wanted builtin that a file reads, and does not define itself.

    A name that is bound anywhere in one of the `scopes` is no builtin there.
    """
    wanted = wanted & _BUILT_IN
    rest: list[tuple[ast.AST, Set[str]]] = [(tree, wanted)] if wanted else []
    while rest:
        node, names = rest.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            yield node.id, node.lineno
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield f"{node.value.id}.{node.attr}", node.lineno
        if isinstance(node, scopes):
            names = names - _bound_in(node)
        rest += [(child, names) for child in ast.iter_child_nodes(node)]


def _bound_in(scope: ast.AST) -> set[str]:
    """Return the names that a file or function binds, without those bound in functions inside it."""
    own: list[ast.AST] = []
    rest = list(ast.iter_child_nodes(scope))
    while rest:
        node = rest.pop()
        own.append(node)
        if not isinstance(node, (*SCOPES, ast.ClassDef)):
            rest += ast.iter_child_nodes(node)
    elsewhere = (name for node in own if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)
    return bound_names(own).difference(elsewhere)


@lru_cache(maxsize=64)
def aliases(source: bytes, *, shadowed: bool = False) -> Aliases:
    """Return what each name of a file may mean: what it imports, and what is assigned to a name without a call.

    A file may give a name several meanings. After `from module import *`, every name that the file does not bind may
    come from that module; with `shadowed`, every name.
    """
    if shadowed and not _has_star(source):
        return aliases(source)
    nodes = parsed(source)
    meanings: dict[str, set[str]] = {}
    for name, meaning in _bindings(nodes):
        meanings.setdefault(name, set()).add(meaning)
    stars = meanings.pop("*", set())
    used = {node.id for node in nodes if isinstance(node, ast.Name)} if stars else set()
    for name in used - (set() if shadowed else bound_names(nodes)):
        meanings.setdefault(name, set()).update(f"{star.removesuffix('.*')}.{name}" for star in stars)
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.NamedExpr | ast.AnnAssign)]
    for _ in range(LONGEST_ALIAS):
        found = [(name, meaning) for node in assigned for name, meaning in _assigned(node, meanings)]
        new = [(name, meaning) for name, meaning in found if meaning not in meanings.get(name, ())]
        if not new:
            break
        for name, meaning in new:
            if len(meanings.setdefault(name, set())) < MOST_MEANINGS and len(meaning) <= MOST_NAME:
                meanings[name].add(meaning)
    return meanings


def _has_star(source: bytes) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in parsed(source))


def _bindings(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _assigned(node: ast.Assign | ast.NamedExpr | ast.AnnAssign, meanings: Aliases) -> Iterator[tuple[str, str]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    values = dotted(node.value, meanings) if node.value is not None else ()
    yield from ((target.id, value) for target in targets if isinstance(target, ast.Name) for value in values)


def imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield name and line of everything that a file imports, by a statement or by a call with a constant."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield f"{node.module}.{alias.name}".removeprefix(f"{builtins.__name__}."), node.lineno
        elif isinstance(node, ast.Call) and (chain(node.func) or [""])[-1] in ("import_module", "__import__"):
            named = (part.value for part in node.args[:1] if isinstance(part, ast.Constant))
            yield from ((name, node.lineno) for name in named if isinstance(name, str))


def dotted(node: ast.AST, meanings: Aliases) -> list[str]:
    """Return the dotted names that an expression may mean, aliases resolved; none of one that is no such name."""
    if not (names := chain(node)):
        return []
    return [".".join([meaning, *names[1:]]) for meaning in sorted(meanings.get(names[0], ()))]


def chain(node: ast.AST) -> list[str]:
    """Return the names in `a.b.c`; nothing for another expression."""
    attributes: list[str] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=value, attr=attr):
                node = value
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(attr)), *_]):
                node = owner
            case _:
                return []
        attributes.append(attr)
    return [node.id, *reversed(attributes)]


# Refuse what an exercise forbids in the student's files: modules, builtins, functions and methods.
#
# The syntax shows what a file mentions. Most of the rest is stopped while the exercise runs:
#
# - A builtin or an import raises in the student's files, since they get a table of builtins of their own.
# - A function of Python or C, and a method like `list.sort`, raises where the student's files call it, by any name.
#
# Library code, and the checks, may call everything. This keeps honest programs honest and gives clear messages. It is
# no security boundary: a program can undo it, in ways that the flags show to a person.


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
        self.watches = bool(self._codes or self._callables or self._methods)

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

    def on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        """Refuse a call of the student's files, as a function for `sys.setprofile`."""
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated object of a library warns when it is looked at
        ban = Ban(names, files)
    try:
        if ban.watches:
            sys.setprofile(ban.on_event)
        yield ban
    finally:
        if ban.watches:
            sys.setprofile(None)


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


# Read a file for what no honest program of the course needs: a person looks at it, and it costs no points.
#
# Forbidden calls are found where they are plainly written. There are endless other ways to a call. So the opposite is
# asked here: does the file use anything but what course.toml calls usual, or reach it in an odd way? Only the text is
# read, and a library that is loaded already is asked which of its names are modules.
#
# An honest program reaches a library by `module.name`, with the name written out. A module that is handed on, a name
# that is computed, a private name and a module within a module are a flag each, whatever is done with them: so it does
# not matter how many ways there are.

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
        self.in_classes = {id(node): node for owner in owners for node in _own_statements(owner)}
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
        self.parents = self._parents_of_layers()

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

    def _parents_of_layers(self) -> set[str]:
        """Return the names that are only ever bound to `get_submodule` of a model, whose layers are read by name."""
        if "get_submodule" in self.defined:
            return set()
        targets: dict[int, str] = {}
        for node in self.nodes:
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name) as target], value=ast.Call(func=ast.Attribute(attr="get_submodule"))
                ):
                    targets[id(target)] = name
        return {*targets.values()} - bound_names(node for node in self.nodes if id(node) not in targets)

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
            case [ast.Name(id=owner), _] if owner in self.parents:
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
