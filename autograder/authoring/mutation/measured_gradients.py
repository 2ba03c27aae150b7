"""Programs that end where a detached value has a gradient: their runs show whether a `detach` changes anything."""

import ast
from collections.abc import Iterator

_ENDS = """

def {name}(value):
    if {condition}:
        raise SystemExit
    return value
"""
# No `except Exception` of a solution or a check hides a SystemExit.

_NAME = "end_where_a_gradient_is"


def ending_programs(solution: str, mutant: str) -> tuple[str, str] | None:
    """Return two programs for a mutant that detaches a value: one ends at every such value, one at those with a graph.

    None for any other mutant.
    """
    tree = ast.parse(mutant)
    for node, calls in _pairs(ast.parse(solution), tree):
        if _detaches(calls, node):
            assert isinstance(calls, ast.Call)
            assert isinstance(calls.func, ast.Attribute)
            calls.args, calls.func = [calls.func.value], ast.Name(_NAME, ast.Load())
            text = ast.unparse(ast.fix_missing_locations(tree))
            conditions = ("True", "getattr(value, 'requires_grad', True)")
            always, with_graph = (text + _ENDS.format(name=_NAME, condition=condition) for condition in conditions)
            return always, with_graph
    return None


def _detaches(calls: ast.AST, node: ast.AST) -> bool:
    match calls:
        case ast.Call(ast.Attribute(value, "detach"), [], []):
            return ast.dump(value) == ast.dump(node)
    return False


def _pairs(one: ast.AST, other: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the first nodes in which two programs differ, and their parents."""
    yield one, other
    ours, theirs = list(ast.iter_child_nodes(one)), list(ast.iter_child_nodes(other))
    if type(one) is type(other) and len(ours) == len(theirs):
        for mine, their in zip(ours, theirs, strict=True):
            if ast.dump(mine) != ast.dump(their):
                yield from _pairs(mine, their)
