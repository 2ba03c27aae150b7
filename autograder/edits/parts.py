"""Expressions with one part changed: a comparison, the axis of a sum, an end of a slice, what a list repeats."""

import ast
from collections.abc import Iterator

from autograder.edits.replacements import AXIS_WORDS
from autograder.edits.scope import name_of

Ranked = tuple[float, str]
"""An addition, and how much later it is tried than the likeliest ones."""

COMPARED = ("==", "!=", "<", "<=", ">", ">=")
SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
COUNTING = ("range", "arange")
REDUCTIONS = {name: name for name in ("sum", "mean", "std", "var", "prod", "norm", "logsumexp", "amax", "amin")} | {
    "max": "amax",
    "min": "amin",
}
"""Calls that reduce an axis, and the call that takes one axis and returns one tensor."""

KEPT_RANK = -3.0
"""The rank of a value that is made anew in each call: that is often forgotten."""


def changed_parts(node: ast.expr) -> Iterator[Ranked]:
    """Yield the texts of an expression with one part of it changed."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in SIGNS:
            yield from ((1, f"({ast.unparse(left)} {sign} {ast.unparse(right)})") for sign in COMPARED)
        case ast.Compare(ast.Attribute(value=ast.Name(id="self")), [ast.Is() | ast.IsNot() as op], [_]):
            yield KEPT_RANK, str(isinstance(op, ast.Is))
        case ast.Attribute(value, "data"):
            yield 0, ast.unparse(value)
        case ast.Call(func=ast.Attribute(value, "cumsum" | "cumprod" as name)):
            yield 0, f"({ast.unparse(node)} {'-' if name == 'cumsum' else '/'} {ast.unparse(value)})"
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in REDUCTIONS:
            yield from _over_last_axis(value, REDUCTIONS[name], arguments, keywords)
        case ast.Call(ast.Name("sum"), [values]):
            yield 0, f"(lambda values: sum(values) / len(values))(list({ast.unparse(values)}))"
        case ast.Subscript(value, ast.Constant(0) | ast.UnaryOp(ast.USub(), ast.Constant(1))):
            yield 2, f"(sum({ast.unparse(value)}) / len({ast.unparse(value)}))"
        case ast.Call(func, [ast.Constant(first), ast.BinOp(count, ast.Add(), ast.Constant(last)), *rest]) if (
            first == last and name_of(func) in COUNTING
        ):
            node = ast.Call(func, [count, *rest], node.keywords)
            yield 0, ast.unparse(ast.fix_missing_locations(node))
        case ast.Call(func, [count]) if name_of(func) in COUNTING:
            node = ast.Call(func, [ast.Constant(1), ast.BinOp(count, ast.Add(), ast.Constant(1))], node.keywords)
            yield 1, ast.unparse(ast.fix_missing_locations(node))
        case ast.Subscript(value, ast.Slice(lower, upper, None)):
            yield from _of_slice(f"{ast.unparse(value)}[", lower, upper)
        case ast.Subscript(value, ast.Tuple([*first, ast.Slice(lower, upper, None)])):
            before = ", ".join(ast.unparse(part) for part in first)
            yield from _of_slice(f"{ast.unparse(value)}[{before}, ", lower, upper)
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=count):
            yield 0, f'[__import__("copy").deepcopy({ast.unparse(item)}) for _ in range({ast.unparse(count)})]'


def _over_last_axis(
    value: ast.expr, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> Iterator[Ranked]:
    """Yield a reduction over the last axis that keeps it, if it kept none: two words that belong together."""
    if any(keyword.arg == "keepdim" for keyword in keywords):
        return
    kept = [ast.unparse(argument) for argument in arguments if not isinstance(argument, ast.Constant | ast.UnaryOp)]
    kept += [ast.unparse(keyword) for keyword in keywords if keyword.arg not in AXIS_WORDS]
    yield 0, f"{ast.unparse(value)}.{name}({', '.join([*kept, 'dim=-1', 'keepdim=True'])})"


def _of_slice(begun: str, lower: ast.expr | None, upper: ast.expr | None) -> Iterator[Ranked]:
    """Yield the other end of a sequence."""
    first, last = (ast.unparse(end) if end is not None else "" for end in (lower, upper))
    if last and not first:
        yield from ((1, f"{begun}{other}]") for other in (f"-{last}:", f"{last}:", f":-{last}"))
    if first and not last:
        yield from ((1, f"{begun}{other}]") for other in (f":{first}", f"-{first}:", f":-{first}"))
