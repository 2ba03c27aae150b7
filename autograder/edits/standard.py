"""The operators behind the default misconceptions of standard checks: what learners do wrong in almost every part.

Those for a device, a dtype, a write into the input and the graph of autograd are operators of `course mutate`, too.
"""

import ast
from collections.abc import Collection, Iterator
from copy import copy

from autograder.edits.operators import Variant, variants
from autograder.edits.replacements import AXIS_CALLS, AXIS_WORDS
from autograder.edits.scope import name_of
from autograder.edits.slots import Slot

FIXED_AXES, MODE_IGNORED, NOT_TRAINED, IN_PLACE = "fixed axes", "mode ignored", "not trained", "in place"
"""The names of the operators that are only here, and of one that has more variants here."""

OPERATORS = {
    "inputs_kept": IN_PLACE,
    "dtypes": "dtype",
    "device": "device",
    "leading_axes": FIXED_AXES,
    "training": MODE_IGNORED,
    "gradients": "gradient",
    "parameters": NOT_TRAINED,
}
"""The operator that makes programs which a kind of standard check catches."""

COUNTS = (3, 4, 2)
"""How many axes a learner may count from the first one: batch, position and feature, with heads, or no batch."""

HOLDERS = {"Parameter", "ModuleList", "ModuleDict", "ParameterList"}


def standard_variants(slot: Slot, imported: Collection[str]) -> Iterator[Variant]:
    """Yield the wrong nodes for standard checks that may replace a node."""
    node, parent = slot.node, slot.parent
    yield from (found for found in variants(slot, imported) if found[0] in OPERATORS.values())
    match node:
        case ast.Return(ast.expr() as value) if slot.place.parameters:
            written = ast.Attribute(ast.Name(slot.place.parameters[0], ast.Load()), "copy_", ast.Load())
            yield IN_PLACE, ast.Return(ast.Call(written, [value], []))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self")) as part, args=[_, *_]) if "drop" in part.attr:
            always = ast.Call(ast.Attribute(part, "train", ast.Load()), [], [])
            yield MODE_IGNORED, ast.Call(always, node.args, node.keywords)
        case ast.Attribute(value=ast.Name(id="self"), attr="training", ctx=ast.Load()):
            yield MODE_IGNORED, ast.Constant(True)
        case ast.Call(func=func, args=[value, *_]) if name_of(func) in HOLDERS and isinstance(parent, ast.Assign):
            yield NOT_TRAINED, value
        case ast.Call(func=ast.Attribute(attr="transpose" | "mean" | "sum" | "softmax" | "var"), args=[_, *_]):
            yield from _of_axes(node)
    if _negative(node) is not None and _is_axis(slot):
        yield from ((FIXED_AXES, ast.Constant(count + value)) for count, value in _counted(node))
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "mH"):
        swap = ast.Attribute(node.value, "transpose", ast.Load())
        yield FIXED_AXES, ast.Call(swap, [ast.Constant(1), ast.Constant(2)], [])
    if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Constant) and part.value is ... for part in node.elts):
        yield FIXED_AXES, ast.Tuple([axis for part in node.elts for axis in _spelled_out(part)], node.ctx)


def _of_axes(node: ast.Call) -> Iterator[Variant]:
    """Yield the call with all its axes counted from the first one."""
    if sum(_negative(part) is not None for part in node.args) > 1:
        for count in COUNTS:
            other = copy(node)
            other.args = [
                part if (value := _negative(part)) is None else ast.Constant(count + value) for part in node.args
            ]
            yield FIXED_AXES, other


def _counted(node: ast.AST) -> Iterator[tuple[int, int]]:
    value = _negative(node)
    yield from ((count, value) for count in COUNTS if value is not None and count + value >= 0)


def _negative(node: ast.AST) -> int | None:
    """Return a whole number below 0 that is written as one; None for any other node."""
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(value=int() as value)) if value:
            return -value
    return None


def _is_axis(slot: Slot) -> bool:
    if isinstance(slot.parent, ast.keyword):
        return slot.parent.arg in AXIS_WORDS
    return isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) in AXIS_CALLS


def _spelled_out(index: ast.expr) -> list[ast.expr]:
    """Return an index; two whole axes in place of an ellipsis."""
    is_dots = isinstance(index, ast.Constant) and index.value is ...
    return [ast.Slice(None, None, None), ast.Slice(None, None, None)] if is_dots else [index]
