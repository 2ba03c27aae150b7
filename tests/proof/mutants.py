"""Make wrong programs from a right one: each mutant changes one node of its syntax tree."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mod, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_", ast.BitAnd: "bitwise_and_"}
ONE_WAY = (ast.Sub, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult)
NAMES = {
    "sin": "cos",
    "cos": "sin",
    "amax": "amin",
    "argmax": "argmin",
    "sum": "mean",
    "mean": "sum",
    "ones": "zeros",
    "zeros": "ones",
    "ones_like": "zeros_like",
    "zeros_like": "ones_like",
    "full_like": "zeros_like",
    "tril": "triu",
    "softmax": "log_softmax",
    "log_softmax": "softmax",
    "all": "any",
    "min": "max",
    "max": "min",
    "eval": "train",
    "exp": "sigmoid",
    "sqrt": "exp",
    "relu": "tanh",
    "var": "std",
}
MAKERS = {"zeros", "ones", "full", "arange", "tensor", "empty", "zeros_like", "ones_like", "full_like", "empty_like"}
AT_THE_END = ("detach", "float", "cpu")
"""The last call on a result: it cuts the graph, fixes the dtype, or fixes the device."""


@dataclass(frozen=True)
class Mutant:
    """A wrong program: the function or class, the statement that is changed, and its replacement."""

    where: str
    line: int
    was: str
    becomes: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.where, self.was, self.becomes


@dataclass(frozen=True)
class _Place:
    """What surrounds a node: the statement, the parameters of the function, and the attributes of the class."""

    where: tuple[str, ...] = ()
    statement: ast.stmt | None = None
    parameters: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Slot:
    """A node of the tree, and how to put another one in its place. An `owner` is called, indexed or has attributes."""

    node: ast.AST
    place: _Place
    owner: bool
    put: Callable[[ast.AST], None]


def mutants_of(source: str, *, learns: bool = True) -> list[Mutant]:
    """Return every mutant of a program, in the order of its lines; no two have the same source.

    A program that `learns` returns numbers with a gradient: only there a mutant cuts the graph.
    """
    tree = _without_docstrings(ast.parse(source))
    found = {ast.unparse(tree): None}
    made: list[Mutant] = []
    for slot in list(_slots(tree, _Place())):
        statement = slot.place.statement
        assert statement is not None
        was = _header(statement)
        for other in _variants(slot):
            if not learns and _detached(other):
                continue
            slot.put(other)
            text = ast.unparse(ast.fix_missing_locations(tree))
            becomes = _becomes(slot.node, other) if slot.node is statement else _header(statement)
            slot.put(slot.node)
            if text not in found:
                found[text] = None
                made.append(Mutant(".".join(slot.place.where), statement.lineno, was, becomes, text))
    return made


def _detached(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Return | ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach"


def _header(statement: ast.stmt) -> str:
    """Return a statement as it is written, a compound one by its first line."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        statement = deepcopy(statement)
        statement.decorator_list = []
    text = ast.unparse(statement)
    return text if not hasattr(statement, "body") else text.split("\n")[0]


def _becomes(node: ast.AST, other: ast.AST) -> str:
    """Return what replaces a whole statement: another one, nothing, or what stood inside it."""
    if isinstance(other, ast.Pass):
        return ""
    if isinstance(node, ast.With) and isinstance(other, ast.If):
        return "its body alone"
    assert isinstance(other, ast.stmt)
    return _header(other)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _slots(node: ast.AST, place: _Place) -> Iterator[_Slot]:
    """Yield every node below this one that can be replaced; annotations and imports cannot."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "ctx"):
            continue
        for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom | ast.operator):
                continue
            inner = _within(place, node, child)
            if inner.statement is not None and isinstance(child, ast.expr | ast.stmt | ast.slice):
                owner = name == "func" or (name == "value" and isinstance(node, ast.Attribute | ast.Subscript))
                yield _Slot(child, inner, owner, _setter(node, name, at))
            if not _is_negative(child):
                yield from _slots(child, inner)


def _is_negative(node: ast.AST) -> bool:
    """Whether a node is a whole number below 0: Python reads it as a minus sign before a constant."""
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


def _within(place: _Place, parent: ast.AST, child: ast.AST) -> _Place:
    if isinstance(parent, ast.FunctionDef) and isinstance(child, ast.stmt):
        arguments = [*parent.args.posonlyargs, *parent.args.args, *parent.args.kwonlyargs]
        names = tuple(argument.arg for argument in arguments if argument.arg != "self")
        place = _Place((*place.where, parent.name), child, names or place.parameters, place.attributes)
    elif isinstance(parent, ast.ClassDef):
        own = (node for node in ast.walk(parent) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
        place = _Place(
            (*place.where, parent.name), place.statement, place.parameters, tuple(attribute.attr for attribute in own)
        )
    if isinstance(child, ast.stmt):
        return _Place(place.where, child, place.parameters, place.attributes)
    return place


def _variants(slot: _Slot) -> Iterator[ast.AST]:
    node, place = slot.node, slot.place
    match node:
        case ast.stmt():
            yield from _of_statement(node)
        case ast.Compare(ops=[only]):
            for comparison in COMPARISONS[type(only)]:
                yield ast.Compare(node.left, [comparison()], node.comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield from values
        case ast.BinOp():
            yield from _of_operation(node)
        case ast.UnaryOp(_, ast.Constant(int() as value)) if _is_negative(node):
            yield from (ast.Constant(1 - value), ast.Constant(-value - 1), ast.Constant(value))
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield from (body, orelse)
            yield ast.IfExp(test, orelse, body)
        case ast.Constant():
            yield from (ast.Constant(value) for value in _other_values(node.value))
        case ast.JoinedStr():
            yield ast.Constant("no numbers")
        case ast.Call():
            yield from _of_call(node)
        case ast.Name(id=name, ctx=ast.Load()) if name in place.parameters:
            yield from _other_parameters(name, place.parameters, owner=slot.owner)
        case ast.Attribute(value, attr, ast.Load()):
            yield from (
                ast.Attribute(value, attribute, ast.Load()) for attribute in _other_attributes(value, attr, place)
            )
        case ast.Slice(lower, upper, step):
            if lower is not None:
                yield ast.Slice(None, upper, step)
            if upper is not None:
                yield ast.Slice(lower, None, step)


def _of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.ClassDef() | ast.Pass():
            return
        case ast.With(body=body):
            yield ast.If(ast.Constant(True), body, [])
        case ast.If(_, body, orelse):
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.While(_, body, orelse):
            yield ast.While(ast.Constant(True), body, orelse)
        case ast.For(target, iterated, body, orelse):
            yield ast.For(target, _call("reversed", _call("list", iterated)), body, orelse)
        case ast.Return(value) if value is not None:
            yield from (ast.Return(_method(value, suffix)) for suffix in AT_THE_END)
        case ast.Assign(targets, value):
            yield ast.Assign(targets, _method(value, "detach"))
        case ast.AugAssign(target, op, value):
            yield from (ast.AugAssign(target, operator(), value) for operator in OPERATORS.get(type(op), ()))
    yield ast.Pass()


def _of_operation(node: ast.BinOp) -> Iterator[ast.AST]:
    left, op, right = node.left, node.op, node.right
    yield from (ast.BinOp(left, operator(), right) for operator in OPERATORS.get(type(op), ()))
    yield from (left, right)
    if isinstance(op, ONE_WAY):
        yield ast.BinOp(right, op, left)
    if type(op) in IN_PLACE and isinstance(left, ast.Name):
        yield _method(left, IN_PLACE[type(op)], right)


def _other_values(value: object) -> Iterator[bool | int | float]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, *([-value] if value > 0 else []))
    elif isinstance(value, float):
        yield from (value + 1, *([-value, value * 10] if value else []))


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    function, arguments, keywords = node.func, node.args, node.keywords
    if isinstance(function, ast.Attribute):
        yield function.value
    if arguments and not isinstance(arguments[0], ast.Starred | ast.GeneratorExp):
        yield arguments[0]
    for i in range(len(arguments)):
        yield ast.Call(function, [*arguments[:i], *arguments[i + 1 :]], keywords)
    for i in range(len(arguments) - 1):
        yield ast.Call(function, [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]], keywords)
    for i in range(len(keywords)):
        yield ast.Call(function, arguments, [*keywords[:i], *keywords[i + 1 :]])
    if _name(function) in MAKERS:
        others = [keyword for keyword in keywords if keyword.arg != "device"]
        yield ast.Call(function, arguments, [*others, ast.keyword("device", ast.Constant("cpu"))])


def _other_parameters(name: str, parameters: tuple[str, ...], *, owner: bool) -> Iterator[ast.AST]:
    yield from (ast.Name(neighbour, ast.Load()) for neighbour in _neighbours(name, parameters))
    if not owner:
        yield ast.Constant(None)
    if "mask" in name:
        yield ast.UnaryOp(ast.Invert(), ast.Name(name, ast.Load()))


def _other_attributes(value: ast.expr, attr: str, place: _Place) -> Iterator[str]:
    if attr in NAMES:
        yield NAMES[attr]
    if isinstance(value, ast.Name) and value.id == "self" and attr in place.attributes:
        yield from _neighbours(attr, place.attributes)


def _neighbours(name: str, names: tuple[str, ...]) -> list[str]:
    """Return the names before and after this one, those at the ends being neighbours as well."""
    names = tuple(dict.fromkeys(names))
    at = names.index(name)
    return [other for other in (names[at - 1], names[(at + 1) % len(names)]) if other != name]


def _name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [argument], [])


def _method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])
