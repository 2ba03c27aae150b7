"""The operators: each turns one node of a program into wrong ones, and has a name.

Operators that write a method of a library are used only if the program imports this library.
"""

import ast
from collections.abc import Collection, Iterator
from copy import copy

from .program import Slot, is_negative, name_of

# The tables of the operators: what each operator, name, dtype and method is replaced by.

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
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
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
IN_PLACE_METHODS = {"masked_fill", "clamp", "exp", "relu", "sqrt", "tanh", "sigmoid", "neg", "transpose", "unsqueeze"}
ONE_WAY = (ast.Sub, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult)
TRANSPOSES = {"transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis"}
TURNED = {"T", "mT", "H", "mH"}
MASKED = {"masked_fill", "masked_fill_", "masked_select", "where"}
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
    "triu": "tril",
    "softmax": "log_softmax",
    "log_softmax": "softmax",
    "all": "any",
    "any": "all",
    "min": "max",
    "max": "min",
    "eval": "train",
    "exp": "sigmoid",
    "sqrt": "exp",
    "relu": "tanh",
    "var": "std",
    "append": "extend",
    "popleft": "pop",
    "floor": "ceil",
    "ceil": "floor",
}
DTYPES = {
    "float64": "float32",
    "float32": "float64",
    "float16": "float32",
    "int64": "int32",
    "long": "int",
    "double": "float",
    "half": "float",
}
BUILT_IN = {"min": "max", "max": "min", "all": "any", "any": "all", "sum": "len"}
SYMMETRIC = {"max", "min", "maximum", "minimum", "hypot", "gcd", "isclose", "allclose"}
"""Functions whose result does not depend on the order of the arguments."""

MAKERS = {"zeros", "ones", "full", "arange", "tensor", "empty", "zeros_like", "ones_like", "full_like", "empty_like"}
AXIS_WORDS = {"dim", "axis", "dims", "axes", "dim0", "dim1", "start_dim", "end_dim"}
AXIS_CALLS = {
    *TRANSPOSES,
    *("size", "unsqueeze", "squeeze", "flatten", "unflatten", "sum", "mean", "var", "std", "amax", "amin", "argmax"),
    *("argmin", "softmax", "log_softmax", "cumsum", "gather", "select", "narrow", "chunk", "split"),
}
AT_THE_END = {"detach": "gradient", "float": "dtype", "cpu": "device"}
"""The last call on a result: it cuts the graph, fixes the dtype, or fixes the device."""


Variant = tuple[str, ast.AST]
"""The name of an operator, and the node that it makes."""


def variants(slot: Slot, imported: Collection[str]) -> Iterator[Variant]:
    """Yield the wrong nodes that may replace a node; `imported` are the names of its imports."""
    node = slot.node
    has_torch = "torch" in imported
    match node:
        case ast.stmt():
            yield from _of_statement(node, has_torch=has_torch)
        case ast.Compare() | ast.BoolOp():
            yield from _of_condition(node)
        case ast.BinOp():
            yield from _of_operation(slot, node, has_torch=has_torch)
        case ast.UnaryOp():
            yield from _of_sign(slot, node)
        case ast.IfExp(test, body, orelse):
            yield from (("condition", part) for part in (body, orelse))
            yield "condition", ast.IfExp(test, orelse, body)
        case ast.Constant():
            yield from _of_constant(slot, node.value)
        case ast.JoinedStr():
            yield "constant", ast.Constant("no numbers")
        case ast.Call():
            yield from _of_call(node, imported)
        case ast.Tuple() | ast.List():
            yield from _of_row(node)
        case ast.Name(id=name, ctx=ast.Load()):
            yield from _of_name(slot, name)
        case ast.Attribute(ctx=ast.Load()):
            yield from _of_attribute(slot, node)
        case ast.Subscript(value, ast.Slice(None, None, None), ast.Load()):
            yield "call dropped", value  # x[:] is a copy of x
        case ast.Slice():
            yield from _of_slice(node)
        case ast.comprehension(target, iterated, ifs, is_async) if ifs:
            for i in range(len(ifs)):
                yield "condition", ast.comprehension(target, iterated, [*ifs[:i], *ifs[i + 1 :]], is_async)
    yield from _of_field(slot)


def _of_field(slot: Slot) -> Iterator[Variant]:
    """Yield what may stand in a field of the parent, whatever node stands there now."""
    node, parent = slot.node, slot.parent
    if slot.name == "test" and isinstance(parent, ast.If | ast.While):
        yield "condition", ast.Constant(True)
        if isinstance(parent, ast.If):
            yield "condition", ast.Constant(False)
    if slot.name == "iter" and isinstance(parent, ast.For) and isinstance(node, ast.expr):
        yield "loop", _call("reversed", _call("list", node))
    if isinstance(parent, ast.Call) and _name(parent.func) in MASKED and parent.args[:1] == [node]:
        yield "mask", ast.UnaryOp(ast.Invert(), parent.args[0])


def _of_statement(node: ast.stmt, *, has_torch: bool) -> Iterator[Variant]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            for i in range(len(node.decorator_list)):
                other = copy(node)
                other.decorator_list = [*node.decorator_list[:i], *node.decorator_list[i + 1 :]]
                yield "call dropped", other
            return
        case ast.Pass():
            return
        case ast.Break():
            yield "loop", ast.Continue()
        case ast.Continue():
            yield "loop", ast.Break()
        case ast.With(body=body) | ast.Try(body=body):
            yield "block dropped", ast.If(ast.Constant(True), body, [])
        case ast.Return(value) if value is not None and has_torch:
            for suffix, operator in AT_THE_END.items():
                yield operator, ast.Return(_method(value, suffix))
        case ast.Assign(targets, value):
            if has_torch:
                yield "gradient", ast.Assign(targets, _method(value, "detach"))
            yield from _in_place(node)
        case ast.AugAssign(target, op, value):
            for operator_type in ARITHMETIC.get(type(op), ()):
                yield "arithmetic", ast.AugAssign(target, operator_type(), value)
    yield "statement dropped", ast.Pass()


def _in_place(node: ast.Assign) -> Iterator[Variant]:
    """Yield `x += y` for `x = x + y`: it changes the object that others have, too."""
    if len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
        match node.value:
            case ast.BinOp(ast.Name(id=name), op, right) if name == target.id:
                yield "in place", ast.AugAssign(ast.Name(name, ast.Store()), op, right)


def _of_condition(node: ast.Compare | ast.BoolOp) -> Iterator[Variant]:
    if isinstance(node, ast.BoolOp):
        yield "boolean", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield from (("boolean", value) for value in node.values)
        return
    for i, op in enumerate(node.ops):
        for other in COMPARISONS[type(op)]:
            yield "comparison", ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators)


def _of_operation(slot: Slot, node: ast.BinOp, *, has_torch: bool) -> Iterator[Variant]:
    left, op, right = node.left, node.op, node.right
    sign, factor = isinstance(op, ast.Add | ast.Sub), isinstance(op, ast.Mult | ast.Div)
    for other in ARITHMETIC.get(type(op), ()):
        yield ("sign" if sign and other in (ast.Add, ast.Sub) else "arithmetic"), ast.BinOp(left, other(), right)
    yield from (("factor" if factor else "term dropped", part) for part in (left, right))
    if isinstance(op, ONE_WAY) and not (isinstance(op, ast.Sub) and _is_size(slot.parent)):
        yield "swapped", ast.BinOp(right, op, left)
    if has_torch and type(op) in IN_PLACE and isinstance(left, ast.Name):
        yield "in place", _method(left, IN_PLACE[type(op)], right)


def _is_size(node: ast.AST) -> bool:
    """Return whether a node is the absolute value of its argument."""
    return isinstance(node, ast.Call) and _name(node.func) in ("abs", "fabs")


def _of_sign(slot: Slot, node: ast.UnaryOp) -> Iterator[Variant]:
    if is_negative(node) and isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int):
        operator, value = ("axis" if _is_axis(slot) else "off by one"), node.operand.value
        yield from ((operator, ast.Constant(other)) for other in (1 - value, -value - 1, value))
    else:
        yield ("sign" if isinstance(node.op, ast.USub) else "boolean"), node.operand


def _of_constant(slot: Slot, value: object) -> Iterator[Variant]:
    if isinstance(slot.parent, ast.JoinedStr):
        return
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        operator = "axis" if _is_axis(slot) else "off by one"
        yield operator, ast.Constant(value + 1)
        yield operator, ast.Constant(value - 1)
        if value > 0:
            yield "sign", ast.Constant(-value)
    elif isinstance(value, float):
        yield "constant", ast.Constant(value + 1)
        if value:
            yield "sign", ast.Constant(-value)
            yield "factor", ast.Constant(value * 10)
    elif isinstance(value, str) and not isinstance(slot.place.statement, ast.Raise):  # messages have any words
        yield "constant", ast.Constant("" if value else "?")


def _is_axis(slot: Slot) -> bool:
    """Return whether a whole number is the number of an axis."""
    if isinstance(slot.parent, ast.keyword):
        return slot.parent.arg in AXIS_WORDS
    return isinstance(slot.parent, ast.Call) and _name(slot.parent.func) in AXIS_CALLS


def _of_call(node: ast.Call, imported: Collection[str]) -> Iterator[Variant]:
    function, arguments, keywords = node.func, node.args, node.keywords
    name = _name(function)
    if isinstance(function, ast.Attribute):
        yield ("transpose" if name in TRANSPOSES else "call dropped"), function.value
    if arguments and not isinstance(arguments[0], ast.Starred | ast.GeneratorExp):
        yield "call dropped", arguments[0]
    for i in range(len(arguments)):
        yield "argument dropped", ast.Call(function, [*arguments[:i], *arguments[i + 1 :]], keywords)
    for i in range(len(arguments) - 1 if name not in SYMMETRIC else 0):
        swapped = [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]]
        yield "swapped", ast.Call(function, swapped, keywords)
    for i, keyword in enumerate(keywords):
        operator = {"device": "device", "dtype": "dtype"}.get(keyword.arg or "", "argument dropped")
        yield operator, ast.Call(function, arguments, [*keywords[:i], *keywords[i + 1 :]])
    if "torch" in imported:
        yield from _of_tensor_call(node, name, imported)


def _of_tensor_call(node: ast.Call, name: str, imported: Collection[str]) -> Iterator[Variant]:
    function = node.func
    if name in MAKERS:
        others = [keyword for keyword in node.keywords if keyword.arg != "device"]
        yield "device", ast.Call(function, node.args, [*others, ast.keyword("device", ast.Constant("cpu"))])
    owner = function.value if isinstance(function, ast.Attribute) else None
    if owner is not None and name in TRANSPOSES:
        # The right shape with the numbers in the order in which they were.
        yield "transpose", _method(owner, "reshape", ast.Attribute(node, "shape", ast.Load()))
    if name in IN_PLACE_METHODS and isinstance(owner, ast.Name) and owner.id not in imported:
        changed = ast.Attribute(owner, f"{name}_", ast.Load())
        yield "in place", ast.Call(changed, node.args, node.keywords)


def _of_row(node: ast.Tuple | ast.List) -> Iterator[Variant]:
    if isinstance(node.ctx, ast.Load):
        for i in range(len(node.elts) - 1):
            swapped = [*node.elts[:i], node.elts[i + 1], node.elts[i], *node.elts[i + 2 :]]
            yield "swapped", type(node)(swapped, ast.Load())


def _of_name(slot: Slot, name: str) -> Iterator[Variant]:
    if slot.name == "func" and name in BUILT_IN:
        yield "another name", ast.Name(BUILT_IN[name], ast.Load())
    if name in slot.place.variables:
        for neighbour in _neighbours(name, slot.place.variables):
            yield "another name", ast.Name(neighbour, ast.Load())
    if name not in slot.place.parameters:
        return
    for neighbour in _neighbours(name, slot.place.parameters):
        yield "another name", ast.Name(neighbour, ast.Load())
    if not slot.is_owner:
        yield "another name", ast.Constant(None)
    if "mask" in name:
        yield "mask", ast.UnaryOp(ast.Invert(), ast.Name(name, ast.Load()))


def _of_attribute(slot: Slot, node: ast.Attribute) -> Iterator[Variant]:
    if node.attr in TURNED:
        yield "transpose", node.value
    if node.attr in NAMES:
        yield "another name", ast.Attribute(node.value, NAMES[node.attr], ast.Load())
    if node.attr in DTYPES:
        yield "dtype", ast.Attribute(node.value, DTYPES[node.attr], ast.Load())
    if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in slot.place.attributes:
        for other in _neighbours(node.attr, slot.place.attributes):
            yield "another name", ast.Attribute(node.value, other, ast.Load())


def _of_slice(node: ast.Slice) -> Iterator[Variant]:
    if node.lower is not None:
        yield "slice", ast.Slice(None, node.upper, node.step)
    if node.upper is not None:
        yield "slice", ast.Slice(node.lower, None, node.step)
    if node.step is not None:
        yield "slice", ast.Slice(node.lower, node.upper, None)


def _neighbours(name: str, names: tuple[str, ...]) -> list[str]:
    """Return the names before and after this one, those at the ends being neighbours as well."""
    names = tuple(dict.fromkeys(names))
    at = names.index(name)
    return [other for other in (names[at - 1], names[(at + 1) % len(names)]) if other != name]


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [argument], [])


def _method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])


# Expressions with one part changed: a comparison, the axis of a sum, an end of a slice, what a list repeats.

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
            yield from _other_ends(f"{ast.unparse(value)}[", lower, upper)
        case ast.Subscript(value, ast.Tuple([*first, ast.Slice(lower, upper, None)])):
            before = ", ".join(ast.unparse(part) for part in first)
            yield from _other_ends(f"{ast.unparse(value)}[{before}, ", lower, upper)
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


def _other_ends(begun: str, lower: ast.expr | None, upper: ast.expr | None) -> Iterator[Ranked]:
    """Yield the other end of a sequence."""
    first, last = (ast.unparse(end) if end is not None else "" for end in (lower, upper))
    if last and not first:
        yield from ((1, f"{begun}{other}]") for other in (f"-{last}:", f"{last}:", f":-{last}"))
    if first and not last:
        yield from ((1, f"{begun}{other}]") for other in (f":{first}", f"-{first}:", f":-{first}"))
