"""What a whole program has that an edit of it may use."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from autograder.edits.slots import Place

SHORT, MOST_AROUND = 50, 6
"""Characters of an expression that is tried in place of a name in it, and how many are."""

LIBRARIES = ("torch", "numpy")
"""Modules beside Python's own whose functions no exercise has written."""

MOST_ITEMS = 8
"""Words like `<S>`, and constants of the module, that are tried in a list."""


@dataclass(frozen=True)
class Signature:
    """The arguments that a function of the program takes; `more` says that it takes any others too."""

    positional: tuple[str, ...]
    keywords: frozenset[str]
    more: bool

    @classmethod
    def of(cls, function: ast.FunctionDef, *, is_method: bool) -> "Signature":
        """Return the arguments that a caller passes."""
        own = function.args
        positional = tuple(argument.arg for argument in (*own.posonlyargs, *own.args))[is_method:]
        named = (argument.arg for argument in own.kwonlyargs)
        return cls(positional, frozenset((*positional, *named)), own.vararg is not None or own.kwarg is not None)

    def takes(self, call: ast.Call, keyword: str | None) -> bool:
        """Return whether a call may have one argument more: under a name, or after its last position."""
        if self.more or any(isinstance(argument, ast.Starred) for argument in call.args):
            return True
        if keyword is None:
            return len(call.args) < len(self.positional)
        return keyword in self.keywords and keyword not in self.positional[: len(call.args)]


_ANY = Signature((), frozenset(), more=True)


class Scope:
    """What a whole program has: its imports, the attributes it calls, and the names of its keyword arguments.

    `forgotten` are attributes that it makes and never reads, `signatures` those of its functions, classes and methods.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.imported = frozenset(_imported(tree))
        self.parts = frozenset(_parts(tree))
        self.signatures: dict[str, Signature] = {}
        for name, signature in _signatures(tree):
            is_one = self.signatures.setdefault(name, signature) == signature
            self.signatures[name] = signature if is_one else _ANY
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.called = tuple(dict.fromkeys(name_of(call.func) for call in calls if is_own(call.func)))
        own = [node for node in ast.walk(tree) if is_own(node)]
        read = {node.attr for node in own if isinstance(node.ctx, ast.Load)}
        self.forgotten = tuple(dict.fromkeys(node.attr for node in own if node.attr not in read))
        self.keywords = tuple(
            dict.fromkeys(
                f"{keyword.arg}={ast.unparse(keyword.value)}"
                for call in calls
                for keyword in call.keywords
                if keyword.arg and not isinstance(keyword.value, ast.Lambda)
            )
        )
        self._around = _expressions(tree)
        constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        self.numbers = tuple(dict.fromkeys(value for value in constants if type(value) in (int, float)))
        words = dict.fromkeys(value for value in constants if isinstance(value, str) and value.startswith("<"))
        self.marked = tuple(words)[:MOST_ITEMS]
        self.tables = tuple(dict.fromkeys(_tables(tree)))[:MOST_ITEMS]
        self.constants = tuple(dict.fromkeys(_constants(tree)))[:MOST_ITEMS]

    def takes(self, call: ast.Call, keyword: str | None = None) -> bool:
        """Return whether what is called may take one argument more, as far as the program tells."""
        name = call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func) if is_own(call.func) else ""
        signature = self.signatures.get(name)
        return signature is None or signature.takes(call, keyword)

    def alike(self, name: str) -> tuple[str, ...]:
        """Return the other functions and classes that take as many arguments by their position as one."""
        count = len(self.signatures[name].positional)
        others = (other for other, signature in self.signatures.items() if len(signature.positional) == count)
        return tuple(other for other in others if other != name and other.isidentifier())

    def around(self, text: str, place: Place) -> tuple[str, ...]:
        """Return short expressions that a function has elsewhere, and that contain a name."""
        return self._around.get((place.where[-1] if place.where else "", text), ())


def is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Return whether a node is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in node.names:
                yield name.asname or name.name.split(".")[0]
                if isinstance(node, ast.Import):
                    yield name.name.split(".")[0]
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _expressions(tree: ast.Module) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return, for each function and each name in it, the short calls and operations that contain the name."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.Call | ast.BinOp | ast.Subscript):
                continue
            text = ast.unparse(node)
            if len(text) > SHORT:
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Name | ast.Attribute):
                    found.setdefault((function.name, ast.unparse(part)), {})[f"({text})"] = None
    return {key: tuple(texts)[:MOST_AROUND] for key, texts in found.items()}


def _constants(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the module itself assigns, and those in capitals that it imports."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Name):
                yield part.id
        if isinstance(statement, ast.ImportFrom):
            yield from (name.asname or name.name for name in statement.names if name.name.isupper())


def _tables(tree: ast.Module) -> Iterator[str]:
    """Yield what is indexed by a word, and what is asked for one with `get`."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name() | ast.Attribute() as table, slice=ast.Constant(value=str())):
                yield ast.unparse(table)
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as table, attr="get")):
                yield ast.unparse(table)


def _signatures(tree: ast.Module) -> Iterator[tuple[str, Signature]]:
    """Yield the functions of a program, its classes by their constructors, and its methods as `self.name`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, Signature.of(node, is_method=False)
        if not isinstance(node, ast.ClassDef):
            continue
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.decorator_list:
                name = node.name if part.name == "__init__" else f"self.{part.name}"
                yield name, Signature.of(part, is_method=True)


def _parts(tree: ast.Module) -> Iterator[str]:
    """Yield the functions and classes of the program, and the files of other exercises and what it imports of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.Import):
            yield from (name.asname or name.name for name in node.names if not _is_library(name.name))
        if isinstance(node, ast.ImportFrom) and not _is_library(node.module or ""):
            yield from (name.asname or name.name for name in node.names)


def _is_library(module: str) -> bool:
    name = module.split(".")[0]
    return name in sys.stdlib_module_names or name in LIBRARIES


def name_of(function: ast.expr) -> str:
    """Return the last name of what is called; "" if it has none."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
