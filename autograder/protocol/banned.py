"""What an exercise may forbid beside dotted names: kinds of syntax, like `syntax:for`, and packages.

`package:transformers` refuses a package whether or not it is installed. The worker never imports it.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

PREFIX = "syntax:"
PACKAGE = "package:"


def _of(*kinds: type[ast.AST]) -> Callable[[Any], bool]:
    return lambda node: isinstance(node, kinds)


def _operator(*kinds: type[ast.AST]) -> Callable[[Any], bool]:
    """Recognise `a ∘ b`, `a ∘= b`, `∘a` and comparisons by their operators."""

    def uses(node: Any) -> bool:
        if isinstance(node, ast.Compare):
            return any(isinstance(operator, kinds) for operator in node.ops)
        return isinstance(node, ast.BinOp | ast.AugAssign | ast.UnaryOp | ast.BoolOp) and isinstance(node.op, kinds)

    return uses


SYNTAX: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "for": ("a for loop", _of(ast.For, ast.AsyncFor)),
    "while": ("a while loop", _of(ast.While)),
    "comprehension": ("a comprehension", _of(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)),
    "if": ("an if statement", _of(ast.If)),
    "if-expression": ("an if expression", _of(ast.IfExp)),
    "match": ("a match statement", _of(ast.Match)),
    "lambda": ("a lambda", _of(ast.Lambda)),
    "class": ("a class", _of(ast.ClassDef)),
    "decorator": ("a decorator", lambda node: bool(getattr(node, "decorator_list", None))),
    "import": ("an import", _of(ast.Import, ast.ImportFrom)),
    "try": ("a try statement", _of(ast.Try, ast.TryStar)),
    "with": ("a with statement", _of(ast.With, ast.AsyncWith)),
    "yield": ("a yield", _of(ast.Yield, ast.YieldFrom)),
    "await": ("an await", _of(ast.Await)),
    "global": ("a global statement", _of(ast.Global)),
    "nonlocal": ("a nonlocal statement", _of(ast.Nonlocal)),
    "assert": ("an assert statement", _of(ast.Assert)),
    "del": ("a del statement", _of(ast.Delete)),
    "walrus": ("an assignment expression", _of(ast.NamedExpr)),
    "unpacking": ("an unpacking star", _of(ast.Starred)),
    "f-string": ("an f-string", _of(ast.JoinedStr)),
    "slice": ("a slice", _of(ast.Slice)),
    "in": ("the operator in", _operator(ast.In, ast.NotIn)),
    "power": ("the operator **", _operator(ast.Pow)),
    "matmul": ("the operator @", _operator(ast.MatMult)),
    "division": ("the operator /", _operator(ast.Div)),
    "floor-division": ("the operator //", _operator(ast.FloorDiv)),
    "modulo": ("the operator %", _operator(ast.Mod)),
}
"""What each entry refuses: in words, and whether a node of a syntax tree is one."""


def is_syntax(entry: str) -> bool:
    """Say whether an entry of `forbidden` is a kind of syntax."""
    return entry.startswith(PREFIX)


def is_package(entry: str) -> bool:
    """Say whether an entry of `forbidden` is a package, installed or not."""
    return entry.startswith(PACKAGE)


def in_words(entry: str) -> str | None:
    """Return a kind of syntax in words; None for an entry that is none."""
    known = SYNTAX.get(entry.removeprefix(PREFIX)) if is_syntax(entry) else None
    return known[0] if known is not None else None


def uses_of_syntax(nodes: Iterable[ast.AST], entries: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield entry and line of every use of forbidden syntax."""
    wanted = [(entry, SYNTAX[entry.removeprefix(PREFIX)][1]) for entry in entries if in_words(entry) is not None]
    if wanted:
        for node in nodes:
            yield from ((entry, getattr(node, "lineno", 1)) for entry, uses in wanted if uses(node))
