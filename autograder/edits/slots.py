"""Find the nodes of a program that a mutant may change."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

FIXED = ("annotation", "returns", "decorator_list", "ctx", "type_params")
"""Fields whose nodes are no mutants: they are no behaviour, or are changed with the definition they belong to."""

Children = list[tuple[int | None, ast.AST]]


@dataclass(frozen=True)
class Place:
    """What surrounds a node: the statement, parameters and variables of the function, the attributes of the class.

    `unused` are parameters that the function does not read, `idle` such variables.
    """

    where: tuple[str, ...] = ()
    statement: ast.stmt | None = None
    parameters: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    in_loop: bool = False


@dataclass(frozen=True)
class Slot:
    """A node of a tree, its parent and the field of the parent that holds it; `put` replaces the node."""

    node: ast.AST
    parent: ast.AST
    name: str
    place: Place
    put: Callable[[ast.AST], None] = field(repr=False)

    @property
    def is_owner(self) -> bool:
        """Whether the node is called or indexed, or an attribute of it is read."""
        return self.name == "func" or (self.name == "value" and isinstance(self.parent, ast.Attribute | ast.Subscript))


def slots(tree: ast.Module) -> Iterator[Slot]:
    """Yield every node that can be replaced, in the order of the program. Imports and docstrings stay."""
    return _slots(tree, Place())


def _slots(node: ast.AST, place: Place) -> Iterator[Slot]:
    for name, value in ast.iter_fields(node):
        if name in FIXED:
            continue
        children: Children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for at, child in children:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom | ast.operator):
                continue
            if is_text(child):
                continue
            inner = _within(place, node, child)
            if inner.statement is not None and isinstance(child, ast.expr | ast.stmt | ast.comprehension):
                yield Slot(child, node, name, inner, _setter(node, name, at))
            if not is_negative(child):
                yield from _slots(child, inner)


def pairs(tree: ast.Module) -> Iterator[tuple[Slot, Slot]]:
    """Yield every two statements of a function that follow each other, and whose order matters."""
    previous: dict[tuple[int, str], Slot] = {}
    for slot in slots(tree):
        if not isinstance(slot.node, ast.stmt) or isinstance(slot.parent, ast.Module | ast.ClassDef):
            continue
        before = previous.get((id(slot.parent), slot.name))
        previous[id(slot.parent), slot.name] = slot
        if before is not None and _depend(before.node, slot.node):
            yield before, slot


def _depend(first: ast.AST, second: ast.AST) -> bool:
    """Return whether the order of two statements may matter: one changes what the other uses, or has an effect."""
    if _has_effect(first) or _has_effect(second):
        return True
    return bool(_names(first, stored=True) & _names(second) or _names(first) & _names(second, stored=True))


def _has_effect(node: ast.AST) -> bool:
    """Return whether a statement is a call, which may change anything. `super().__init__()` comes first by custom."""
    return isinstance(node, ast.Expr) and "super()" not in ast.unparse(node)


def _names(node: ast.AST, *, stored: bool = False) -> set[str]:
    """Return the names and attributes that a statement uses, or those that it stores, also in a part of them."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and (
            not stored or isinstance(part.ctx, ast.Store)
        ):
            found.add(ast.unparse(part.value if isinstance(part, ast.Subscript) else part))
    return found - {"self"}


def is_text(node: ast.AST) -> bool:
    """Return whether a statement is a docstring, or another text that does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_negative(node: ast.AST) -> bool:
    """Return whether a node is a whole number below 0: Python reads it as a minus sign before a constant."""
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    return isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int)


def _setter(parent: ast.AST, name: str, at: int | None) -> Callable[[ast.AST], None]:
    def put(other: ast.AST) -> None:
        if at is None:
            setattr(parent, name, other)
        else:
            getattr(parent, name)[at] = other

    return put


def _read(function: ast.FunctionDef) -> set[str]:
    """Return the names whose values a function reads: a comparison with None alone uses no value."""
    compared = {
        id(node.left)
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and all(isinstance(sign, ast.Is | ast.IsNot) for sign in node.ops)
    }
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return {node.id for node in names if id(node) not in compared}


def _within(place: Place, parent: ast.AST, child: ast.AST) -> Place:
    if isinstance(parent, ast.For | ast.While) and isinstance(child, ast.stmt):
        place = replace(place, in_loop=True)
    if isinstance(parent, ast.FunctionDef) and isinstance(child, ast.stmt):
        arguments = [*parent.args.posonlyargs, *parent.args.args, *parent.args.kwonlyargs]
        names = tuple(argument.arg for argument in arguments if argument.arg != "self") or place.parameters
        stored = (node for node in ast.walk(parent) if isinstance(node, ast.Name))
        assigned = (node.id for node in stored if isinstance(node.ctx, ast.Store))
        variables = tuple(dict.fromkeys(name for name in assigned if name.strip("_")))
        read = _read(parent)
        unused, idle = (tuple(name for name in group if name not in read) for group in (names, variables))
        place = replace(
            place,
            where=(*place.where, parent.name),
            parameters=names,
            variables=variables,
            unused=unused,
            idle=idle,
            in_loop=False,
        )
    elif isinstance(parent, ast.ClassDef):
        kept = (node for node in ast.walk(parent) if isinstance(node, ast.Attribute))
        attributes = tuple(node.attr for node in kept if isinstance(node.ctx, ast.Store))
        place = replace(place, where=(*place.where, parent.name), attributes=attributes)
    return replace(place, statement=child) if isinstance(child, ast.stmt) else place
