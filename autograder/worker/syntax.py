"""Survey a file by its syntax alone: where its functions return, and which forbidden calls it names."""

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from autograder.protocol import (
    BODIES_OF,
    MOST_NAME,
    PACKAGE,
    SURVEY_ASSIGNMENTS,
    SURVEY_FORBIDDEN,
    SURVEY_OWNERS,
    SURVEY_PLACES,
    SURVEY_RETURNS,
    SURVEY_WORDS,
    cut,
    function_definitions,
    functions,
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
    for owner, node in function_definitions(tree):
        if owner is None:
            names: tuple[str, ...] = (node.name,)
        else:
            names = (f"{owner}.{node.name}", *([owner] if node.name == "forward" else []))
        yield _Function(names, owner or node.name, node.lineno, list(_own_statements(node)))


def _own_statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield the statements of a function, without those of functions and classes defined in it.

    Works without recursion, since a tree may be deeper than Python's stack.
    """
    stack: list[Any] = function.body[::-1]
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


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some nodes bind."""
    bound: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.split(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
    return bound


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
