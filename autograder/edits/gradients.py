"""Values that have no gradient, by the text of a program alone: to detach them changes nothing."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from autograder.edits.replacements import MAKERS
from autograder.edits.scope import name_of

NO_GRADIENT = {
    *("argmax", "argmin", "argsort", "bool", "long", "int", "eq", "ne", "lt", "le", "gt", "ge", "logical_and"),
    *("logical_or", "logical_not", "isnan", "isinf", "isfinite", "nonzero", "bincount", "multinomial", "all", "any"),
    *("randint", "randperm", "searchsorted", "bucketize", "size"),
}
"""Functions and methods whose result is never part of the graph, whatever goes into them."""

BUILT_IN = {"len", "all", "any", "int", "bool"}
OFF = ("no_grad", "inference_mode")
ON = ("enable_grad", "set_grad_enabled")

Values = Mapping[str, Sequence[ast.expr]]


def detaches_nothing(source: str, line: int) -> bool:
    """Whether the statement of a line detaches a value that cannot have a gradient: a mask, ids, or in `no_grad`.

    False where this is not certain.
    """
    may_be_on = any(word in source for word in ON)
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.lineno <= line <= (function.end_lineno or 0):
            for statement, is_off in _statements(function.body, any(map(_turns_off, function.decorator_list))):
                if statement.lineno <= line <= (statement.end_lineno or 0) and (value := _detached(statement)):
                    return (is_off and not may_be_on and _computes(value)) or _has_none(value, _values(function), ())
    return False


def _statements(body: Sequence[ast.stmt], is_off: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield every statement of a function, and whether the graph is not recorded there."""
    for statement in body:
        yield statement, is_off
        turned = isinstance(statement, ast.With) and any(_turns_off(item.context_expr) for item in statement.items)
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, []), is_off or turned)


def _turns_off(node: ast.expr) -> bool:
    return name_of(node.func if isinstance(node, ast.Call) else node) in OFF


def _detached(statement: ast.stmt) -> ast.expr | None:
    """Return the value whose `detach` a statement assigns or returns."""
    match statement:
        case ast.Assign(value=ast.Call(ast.Attribute(value, "detach"))) | ast.Return(
            ast.Call(ast.Attribute(value, "detach"))
        ):
            return value
    return None


def _computes(value: ast.expr) -> bool:
    """Whether a value is the result of an operation of torch; a name, or another call, may have a graph already."""
    match value:
        case ast.BinOp():
            return True
        case ast.Call(ast.Attribute(ast.Name("torch"))):
            return True
    return False


def _values(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Return what is assigned to the names that only plain assignments bind."""
    arguments = {part.arg for part in ast.walk(function) if isinstance(part, ast.arg)}
    values: dict[str, list[ast.expr]] = {}
    plain = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
            values.setdefault(target.id, []).append(node.value)
            plain.add(id(target))
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    others = {node.id for node in stored if id(node) not in plain}
    return {name: found for name, found in values.items() if name not in arguments | others}


def _has_none(node: ast.expr, values: Values, seen: tuple[str, ...]) -> bool:
    """Whether an expression has no gradient, whatever its names are."""

    def rest(*nodes: ast.expr) -> bool:
        return all(_has_none(part, values, seen) for part in nodes)

    match node:
        case ast.Constant() | ast.Compare():
            return True
        case ast.UnaryOp(operand=value) | ast.Starred(value=value):
            is_logic = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert)
            return is_logic or rest(value)
        case ast.BinOp(left, op, right):
            return isinstance(op, ast.BitAnd | ast.BitOr) or rest(left, right)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return rest(*parts)
        case ast.IfExp(body=first, orelse=other):
            return rest(first, other)
        case ast.Name(id=name) if name in values:
            # A name that is computed from itself, as in `mask = mask & other`, adds nothing that has a gradient.
            return name in seen or all(_has_none(value, values, (*seen, name)) for value in values[name])
        case ast.Attribute(attr="shape" | "ndim" | "device" | "dtype"):
            return True
        case ast.Subscript(value=value):
            return rest(value)
        case ast.Call(func):
            return _call_has_none(node, func, rest)
    return False


def _call_has_none(node: ast.Call, func: ast.expr, rest: Callable[..., bool]) -> bool:
    name = name_of(func)
    if not isinstance(func, ast.Attribute):
        return name in BUILT_IN
    if name in NO_GRADIENT:
        return True
    if isinstance(func.value, ast.Name) and func.value.id == "torch":
        words = {keyword.arg for keyword in node.keywords}
        if name in MAKERS:
            return "requires_grad" not in words
        return name in MOVES and rest(*node.args)
    return name in MOVES and rest(func.value, *node.args)


MOVES = {
    *("unsqueeze", "squeeze", "view", "reshape", "expand", "expand_as", "repeat", "transpose", "permute", "flatten"),
    *("clone", "contiguous", "to", "float", "double", "half", "tril", "triu", "cat", "stack", "flip", "cumsum", "sum"),
}
"""Functions and methods whose result has a gradient only if one of their arguments has."""
