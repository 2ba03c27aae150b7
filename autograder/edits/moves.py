"""What may be in the wrong order or place: brackets, calls, names in a statement, and statements."""

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from autograder.edits.slots import Slot, is_text
from autograder.edits.text import Edit, Text

Ranked = tuple[float, str]
Block = tuple[ast.AST, list[ast.stmt]]

MOST_NAMES = 8
"""Names of a statement that are exchanged, two by two."""

MOST_STATEMENTS = 16
"""Statements of the longest block whose statements are moved: each may go to each place."""

EXCHANGED_RANK, PARAMETERS_RANK, MOVED_RANK = 1.0, 1.5, 1.5


def regrouped(slot: Slot) -> Iterator[Ranked]:
    """Yield an expression with a call around more or less of it, or with other brackets."""
    node = slot.node
    match node:
        case ast.BinOp(left, op, right):
            yield from _drawn_out(left, lambda inner: ast.BinOp(inner, op, right))
            yield from _drawn_out(right, lambda inner: ast.BinOp(left, op, inner))
            if isinstance(left, ast.BinOp):
                yield 0.5, _text(ast.BinOp(left.left, left.op, ast.BinOp(left.right, op, right)))
            if isinstance(right, ast.BinOp):
                yield 0.5, _text(ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right))
        case ast.Call(func=ast.Attribute(value=ast.BinOp() as whole)) | ast.Call(args=[ast.BinOp() as whole, *_]):
            for side in ("left", "right"):
                part = getattr(whole, side)
                if not isinstance(part, ast.Constant):
                    yield 0.5, _text(_with(whole, side, _around(node, whole, part)))
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute(value=owner)) as first)):
            yield 1, _text(_around(first, owner, _around(node, first, owner)))  # x.a().b() as x.b().a()
        case ast.Call(args=[ast.Call(args=[inner, *_]) as first, *_]) if not isinstance(inner, ast.Starred):
            yield 1, _text(_around(first, inner, _around(node, first, inner)))  # a(b(x)) as b(a(x))


def _drawn_out(part: ast.expr, whole: Callable[[ast.expr], ast.expr]) -> Iterator[Ranked]:
    """Yield a call on an operand as a call on the whole operation."""
    match part:
        case ast.Call(func=ast.Attribute(value=owner)) if not _is_module(owner):
            yield 0.5, _text(_around(part, owner, whole(owner)))
    match part:
        case ast.Call(args=[inner, *_]) if not isinstance(inner, ast.Starred | ast.GeneratorExp):
            yield 0.5, _text(_around(part, inner, whole(inner)))


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "torch", "nn", "F", "math", "np")


def _around(call: ast.Call, old: ast.expr, new: ast.expr) -> ast.Call:
    """Return a call with another expression as its owner or its first argument."""
    if isinstance(call.func, ast.Attribute) and call.func.value is old:
        return ast.Call(ast.Attribute(new, call.func.attr, ast.Load()), call.args, call.keywords)
    return ast.Call(call.func, [new if argument is old else argument for argument in call.args], call.keywords)


def _with(node: ast.BinOp, side: str, part: ast.expr) -> ast.BinOp:
    return ast.BinOp(part, node.op, node.right) if side == "left" else ast.BinOp(node.left, node.op, part)


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def restated(node: ast.stmt) -> Iterator[Ranked]:
    """Yield a statement that keeps a result, or that makes a new value in place of changing one."""
    match node:
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as owner)) as call):
            if not _is_module(owner):
                yield 0, f"{ast.unparse(owner)} = {ast.unparse(call)}"
    match node:
        case ast.Expr(ast.Call(args=[ast.Name() | ast.Attribute() as first, *_]) as call):
            yield 0, f"{ast.unparse(first)} = {ast.unparse(call)}"
        case ast.AugAssign(target, op, value):
            name = ast.unparse(target)
            yield 0, f"{name} = {name} {_sign(op)} ({ast.unparse(value)})"
            yield 1, f"{name} = {ast.unparse(value)}"
        case ast.Assign([ast.Tuple(elts)], value) if len(elts) > 1:
            for left, right in combinations(range(len(elts)), 2):
                other = [ast.unparse(part) for part in elts]
                other[left], other[right] = other[right], other[left]
                yield 1, f"{', '.join(other)} = {ast.unparse(value)}"


def _sign(op: ast.operator) -> str:
    return ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b")))[1:-1].strip()


def exchanged(slot: Slot, text: Text) -> Iterator[tuple[float, Edit]]:
    """Yield a statement with two of its names exchanged."""
    node, place = slot.node, slot.place
    if not isinstance(node, ast.stmt) or hasattr(node, "body"):
        return
    known = {*place.parameters, *place.variables}
    reads = [(label, part) for label, part in _reads(node) if label in known or label.startswith("self.")]
    for first, second in combinations(list(dict.fromkeys(label for label, _ in reads))[:MOST_NAMES], 2):
        yield EXCHANGED_RANK, _with_exchanged(node.lineno, reads, (first, second), text)


def exchanged_parameters(node: ast.FunctionDef, text: Text) -> Iterator[tuple[float, Edit]]:
    """Yield the body of a function with two of its parameters exchanged."""
    names = [argument.arg for argument in node.args.args if argument.arg != "self"][:MOST_NAMES]
    reads = [read for statement in node.body for read in _reads(statement)]
    read = {label for label, _ in reads}
    for pair in combinations(names, 2):
        if not read.isdisjoint(pair):
            yield PARAMETERS_RANK, _with_exchanged(node.lineno, reads, pair, text)


Read = tuple[str, ast.AST]
"""A name that is read, and where."""


def _with_exchanged(line: int, reads: Sequence[Read], pair: tuple[str, str], text: Text) -> Edit:
    """Return the program with two names exchanged where they are read."""
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    return text.changed(line, [(part, other[label]) for label, part in reads if label in other])


def _reads(node: ast.AST) -> Iterator[Read]:
    """Yield the names and own attributes that are read; Python 3.11 gives no places inside of an f-string."""
    if isinstance(node, ast.JoinedStr):
        return
    label = _label(node)
    if label and isinstance(getattr(node, "ctx", None), ast.Load):
        yield label, node
        return
    for child in ast.iter_child_nodes(node):
        yield from _reads(child)


def _label(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return f"self.{node.attr}" if is_own and isinstance(node, ast.Attribute) else ""


def moved(tree: ast.Module, text: Text) -> Iterator[tuple[float, Edit]]:
    """Yield every statement of a function in another place of its block, in a loop, or out of it."""
    for owner, block in _blocks(tree):
        if len(block) > MOST_STATEMENTS or not all(text.has_own_lines(statement) for statement in block):
            continue
        for at, statement in enumerate(block):
            if isinstance(statement, ast.Return | ast.FunctionDef | ast.ClassDef) or is_text(statement):
                continue
            only = len(block) == 1
            for line, column in _targets(owner, block, at):
                yield MOVED_RANK, text.moved(statement, line, column, leaves_nothing=only)


def _targets(owner: ast.AST, block: Sequence[ast.stmt], at: int) -> Iterator[tuple[int, int]]:
    """Yield the lines before which a statement of a block may stand instead, and the columns."""
    column = block[at].col_offset
    for other, statement in enumerate(block):
        if other not in (at - 1, at, at + 1):  # neighbours are exchanged elsewhere
            yield statement.lineno, column
    if at < len(block) - 2 and not isinstance(block[-1], ast.Return):
        yield _after(block[-1]), column
    if isinstance(owner, ast.For | ast.While | ast.With | ast.If):
        yield owner.lineno, owner.col_offset
        yield _after(owner), owner.col_offset
    for beside, loop in enumerate(block):
        if beside != at and isinstance(loop, ast.For | ast.While | ast.With | ast.If):
            yield loop.body[0].lineno, loop.body[0].col_offset
            yield _after(loop.body[-1]), loop.body[0].col_offset


def _after(statement: ast.stmt) -> int:
    return (statement.end_lineno or statement.lineno) + 1


def _blocks(tree: ast.Module) -> Iterator[Block]:
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for owner in ast.walk(function):
            for name in ("body", "orelse"):
                block = getattr(owner, name, None)
                if isinstance(block, list) and block and isinstance(owner, ast.stmt):
                    yield owner, block
