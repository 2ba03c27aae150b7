"""Find small edits that may mend a wrong program: what stands there replaced, or what is missing added.

The likeliest edits come first: those near the lines that are suspected, and those that mend common mistakes.
"""

import ast
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations, permutations
from operator import itemgetter

from autograder.protocol import first_line

from .program import (
    MAKERS,
    MASKED,
    Edit,
    Ranked,
    Scope,
    Slot,
    Surroundings,
    Text,
    changed_parts,
    is_axis,
    is_own,
    is_text,
    name_of,
    pairs,
    slots,
    variants,
)

SHAPED = ("transpose(-2, -1)", "transpose(1, 2)", "unsqueeze(1)", "unsqueeze(0)", "unsqueeze(-1)", "unsqueeze(-2)")
CHANGED = (
    *("clone()", "copy()", "detach()", "contiguous()", "bool()", "long()", "float()"),
    *("softmax(-1)", "relu()", "log()", "sqrt()", "sum(-1)", "mean(-1)"),
)
CUT = (":, :-1", ":, 1:", ":-1", "1:", ":, -1", "0", "..., :-1", "..., 1:", "None", ":, None", "..., None", "-1")
FILLS = ('float("-inf")', "0.0", "-1e4", "1.0", "True", "False")
TYPES = {"bool", "long", "int", "double", "half", "float16", "float32", "float64", "int16", "int32", "int64"}
TYPE_WORDS = ("bool", "long", "float32", "float64")
LARGE = 1e3
KEYWORDS = (
    *("dim=-1", "dim=1", "dim=0", "dim=-2", "keepdim=True", "bias=False", "unbiased=False", "correction=0"),
    *("training=self.training", "persistent=False"),
)
PASSED_ON_RANK, FORGOTTEN_RANK, UNKNOWN_RANK = -1.0, -2.0, -3.0
"""Ranks of an argument that is handed on to a part, and of a part that is made and not used: both are often forgotten.
An attribute that a class never sets is likely another one of its own, misspelt.
"""

OWNERS = ("model", "module", "net")
"""How parameters begin that are whole models: their parts may be called with too few arguments too."""

INHERITED = ("training",)
"""Attributes that every module has."""

MODES = ("train", "eval", "zero_grad", "step")
"""Methods without arguments that a training or evaluation may lack."""


def additions(slot: Slot, scope: Scope) -> Iterator[Ranked]:
    """Yield the texts that may replace an expression."""
    node, place = slot.node, slot.place
    if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return
    text = ast.unparse(node)
    yield from _in_place_of(slot, node, scope)
    yield from changed_parts(node)
    if _is_fill(slot):
        yield from ((0, fill) for fill in FILLS if fill != text)
        for name in dict.fromkeys((*place.variables, *place.parameters)):
            yield 1, f'__import__("torch").finfo({name}.dtype).min'
    if slot.name == "elt" and isinstance(node, ast.Name | ast.Attribute):
        yield 0, f'__import__("copy").deepcopy({text})'
    if isinstance(node, ast.Name | ast.Attribute):
        yield from ((1, other) for other in scope.around(text, place) if other != text)
    if isinstance(slot.parent, ast.Assign) and slot.name == "value":
        yield from _beside_its_target(slot.parent, text)
    counted = slot.name == "args" and isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) == "enumerate"
    if slot.name == "iter" or counted:  # what a loop goes through
        yield from ((rank, f"{call}({text})") for rank, call in ((1, "dict.fromkeys"), (2, "sorted"), (2, "reversed")))
    in_range = isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) == "range"
    if slot.name in ("lower", "upper", "comparators") or in_range:  # an end of a slice, of a comparison or of a range
        yield from ((1, f"({text} {sign} 1)") for sign in "+-")
    if _may_be_wrapped(slot):
        yield from _wraps(node, text, place, scope)


def _beside_its_target(node: ast.Assign, text: str) -> Iterator[Ranked]:
    """Yield a new value together with the old one, and a copy of a value that only gets a second name."""
    target = node.targets[0]
    if isinstance(target, ast.Name) and isinstance(node.value, ast.Name):
        yield from ((0, copy) for copy in (f"list({text})", f"{text}.clone()", f'__import__("copy").deepcopy({text})'))
    if isinstance(target, ast.Name | ast.Attribute) and ast.unparse(target) not in text:
        yield from ((1, f"({ast.unparse(target)} {sign} ({text}))") for sign in "|&+")


def _in_place_of(slot: Slot, node: ast.expr, scope: Scope) -> Iterator[Ranked]:
    """Yield what may stand in place of a name, a number, a call, a dtype or a list."""
    place = slot.place
    match node:
        case ast.Name(id=name) if slot.name == "func" and name in scope.signatures:
            yield from ((0, other) for other in scope.alike(name))
        case ast.Name(id=name) if name not in (*scope.imported, "self"):
            yield from ((0, other) for other in dict.fromkeys((*place.parameters, *place.variables)) if other != name)
            if not slot.is_owner:
                yield from ((1, f"self.{other}") for other in place.attributes)
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if slot.name != "func":
            rank = 1.0 if name in (*place.attributes, *INHERITED) else UNKNOWN_RANK
            yield from ((rank, f"self.{other}") for other in place.attributes if other != name)
            yield from ((2, other) for other in place.parameters)
        case ast.Attribute(attr=name) if name in TYPES and slot.name != "func":
            yield from ((1, f"{other}.dtype") for other in place.parameters)
            if isinstance(node.value, ast.Name):
                yield from ((1, f"{node.value.id}.{other}") for other in TYPE_WORDS if other != name)
        case ast.Constant(value=None):
            yield from ((1, name) for name in dict.fromkeys((*place.parameters, *place.variables)))
            named = slot.parent.arg if isinstance(slot.parent, ast.keyword) else None
            yield from ((0 if name == named else 1, f"self.{name}") for name in place.attributes)
        case ast.Constant(value=bool()):
            yield from ((1, name) for name in dict.fromkeys((*place.parameters, *place.variables)))
        case ast.Call():
            yield from _of_call(node, place, scope)
        case ast.List() | ast.ListComp() if slot.name == "value" and isinstance(slot.parent, ast.Assign | ast.Return):
            yield 0, f'__import__("torch").nn.ModuleList({ast.unparse(node)})'


def _is_fill(slot: Slot) -> bool:
    """Whether an expression is what a mask fills in, or a number so large that it may be meant to."""
    node, parent = slot.node, slot.parent
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(number, ast.Constant) and isinstance(number.value, float) and number.value > LARGE:
        return not isinstance(parent, ast.UnaryOp)
    return isinstance(parent, ast.Call) and name_of(parent.func) in MASKED and node in parent.args[-1:]


def _of_call(node: ast.Call, place: Surroundings, scope: Scope) -> Iterator[Ranked]:
    """Yield the call with one argument more."""
    here = {keyword.arg for keyword in node.keywords}
    text, name = ast.unparse(node), name_of(node.func)
    begun = f"{text[:-1]}, " if node.args or node.keywords else text[:-1]
    if any(isinstance(argument, ast.GeneratorExp) for argument in node.args):
        return
    if isinstance(node.func, ast.Attribute) and name.endswith("_") and not name.startswith("_"):
        yield 0, f"{ast.unparse(node.func.value)}.{name.rstrip('_')}({text.partition(f'.{name}(')[2]}"
    tensors = [other for other in place.parameters if not other.startswith(("n_", "d_", "max_"))]
    if name in MAKERS:
        yield from ((0, f"{begun}device={other}.device)") for other in tensors if "device" not in here)
        yield from ((1, f"{begun}dtype={other}.dtype)") for other in tensors if "dtype" not in here)
    for keyword in dict.fromkeys((*KEYWORDS, *scope.keywords)):
        word = keyword.split("=")[0]
        if word not in here and scope.takes(node, word):
            yield (1 if keyword in scope.keywords else 2), f"{begun}{keyword})"
    used = {argument.id for argument in node.args if isinstance(argument, ast.Name)}
    is_part = _is_part(node.func, place, scope)
    rank = PASSED_ON_RANK if is_part else 1.0
    for other in dict.fromkeys((*place.parameters, *place.variables)):
        if other not in used and other not in here:
            is_new = other not in place.parameters
            if scope.takes(node, other):
                yield rank + is_new, f"{begun}{other}={other})"
            if not node.keywords and scope.takes(node):
                yield rank + is_new, f"{begun}{other})"
    rest = [other for other in place.parameters if other not in {*used, *here} and scope.takes(node, other)]
    if is_part and len(rest) > 1:
        yield rank, f"{begun}{', '.join(f'{other}={other}' for other in rest)})"
        yield rank, f"{begun}{', '.join(rest)})"
    if not node.keywords and scope.takes(node):
        yield from ((2, f"{begun}{other}.device)") for other in tensors)
        yield from ((2, f"{begun}self.{other})") for other in place.attributes)


def _is_part(func: ast.expr, place: Surroundings, scope: Scope) -> bool:
    """Whether what is called is a part of this program, or of a model that it was given."""
    match func:
        case ast.Name(id=name):
            return name in scope.parts or name == "self" or (name in place.parameters and name.startswith(OWNERS))
        case ast.Attribute(value=ast.Name(id=name)):
            return name == "self" or name in scope.parts or (name in place.parameters and name.startswith(OWNERS))
    return False


def _may_be_wrapped(slot: Slot) -> bool:
    """Whether an expression is a value of its own: what is assigned, returned, an argument or an operand."""
    if slot.name in ("value", "iter") and isinstance(slot.parent, ast.stmt):
        return not isinstance(slot.parent, ast.Expr)
    return slot.name in ("args", "left", "right", "elt", "elts", "comparators") and not isinstance(
        slot.node, ast.Constant
    )


def _wraps(node: ast.expr, text: str, place: Surroundings, scope: Scope) -> Iterator[Ranked]:
    """Yield an expression inside of what may be missing around it."""
    whole = f"({text})"
    yield from ((FORGOTTEN_RANK, f"self.{name}({text})") for name in _parts(scope.forgotten, place))
    yield from ((0, f"self.{name}({text})") for name in _parts(scope.called, place) if f"self.{name}" != text)
    yield 0, f"(~{whole})"
    yield from ((1, f"(lambda value: value {sign} value.size(-1) ** 0.5){whole}") for sign in "/*")
    used = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id not in scope.imported]
    for name in dict.fromkeys(used):
        if name != "self":
            yield from ((0, f"({whole} {sign} {name}.size(-1) ** 0.5)") for sign in "/*")
    for name in (*place.parameters, *place.variables):
        yield 1, f"({whole} + {name})"
        yield from ((2, f"({whole} {sign} {name})") for sign in "&|")
        yield 2, f'__import__("torch").maximum({whole}, {name})'
        yield from ((2, f"({whole} {sign} {name})") for sign in "*/-")
        yield from ((2, f"({whole} {sign} {name} ** 0.5)") for sign in "*/")
        if "mask" in name:
            yield from _masked(whole, name)
    for name in place.attributes:
        if name not in scope.called:
            yield from ((1, f"({whole} {sign} self.{name}{power})") for sign in "*/+" for power in (" ** 0.5", ""))
    yield from ((1, f"{whole}.{call}") for call in SHAPED)
    yield from ((2, f"{whole}.{call}") for call in CHANGED)
    yield from ((2, f"{whole}[{index}]") for index in CUT)
    yield from ((2, changed) for changed in (f"max({text}, 1)", f"list({text})", f"(-{whole})"))
    yield from ((2, f"({whole} {change})") for change in ("+ 1", "- 1", "* 2", "/ 2"))
    for name in place.parameters:
        yield from ((2, f"{whole}.to({name}.{what})") for what in ("device", "dtype"))


def _masked(whole: str, name: str) -> Iterator[Ranked]:
    for blocked in (f"~{name}", name):
        yield 0, f'{whole}.masked_fill({blocked}, float("-inf"))'
        yield 0, f"{whole}.masked_fill({blocked}, 0.0)"
    yield 1, f"({whole} & {name})"


def insertions(slot: Slot, scope: Scope) -> Iterator[tuple[float, str, bool]]:
    """Yield the statements that may be missing before or behind one, with True for those before it."""
    node, place = slot.node, slot.place
    if isinstance(slot.parent, ast.Module | ast.ClassDef) or isinstance(node, ast.FunctionDef):
        return
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = ast.unparse(node.targets[0])
        if isinstance(node.targets[0], ast.Name):
            yield from ((1, f"{target} = self.{name}({target})", False) for name in _parts(scope.called, place))
        elif is_own(node.targets[0]):
            value, name = ast.unparse(node.value), target.removeprefix("self.")
            yield 1, f'del {target}; self.register_buffer("{name}", {value})', False
            yield 1, f'{target} = __import__("torch").nn.Parameter({target})', False
    for name in place.parameters:
        if name.startswith(("model", "optim", "net")):
            yield from ((2, f"{name}.{mode}()", before) for mode in MODES for before in (True, False))
    for name in place.parameters:
        yield from ((2, f"{name} = self.{module}({name})", True) for module in _parts(scope.called, place))
    if isinstance(node, ast.Return) and node.value is not None:
        yield 2, "continue", True
    if place.in_loop and isinstance(slot.parent, ast.If) and isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
        yield from ((2, word, False) for word in ("break", "continue"))


def on_one_device(slot: Slot, text: Text) -> Iterator[tuple[float, Edit]]:
    """Yield a statement in which everything that is made goes to the device of the same parameter."""
    node = slot.node
    if not isinstance(node, ast.stmt) or hasattr(node, "body"):
        return
    made = [part for part in ast.walk(node) if isinstance(part, ast.Call) and name_of(part.func) in MAKERS]
    made = [call for call in made if call.args and all(keyword.arg != "device" for keyword in call.keywords)]
    for name in slot.place.parameters if len(made) > 1 else ():
        yield (
            0,
            text.changed(node.lineno, [(call, f"{ast.unparse(call)[:-1]}, device={name}.device)") for call in made]),
        )


def _parts(attributes: Iterable[str], place: Surroundings) -> list[str]:
    """Return those that are parts of the class, and may be applied: none while they are made."""
    return [name for name in attributes if name in place.attributes and "__init__" not in place.where]


# What may be wrong in lists, words and whole numbers: an item too few, another order, another word or number.

AXES = (0, 1, 2, -1, -2, -3)
IDS = (0, 1, 2, 3)
"""Ids of special tokens, tried where a program has words like `<S>`."""

FLOATS = (0.0, 1.0)
"""The first values of most parameters."""

MOST_IN_ROW = 6
"""Items of the longest row whose items change places."""

MOST_WORDS = 6
"""Words of a function that are exchanged, two by two."""


def literals(slot: Slot, scope: Scope) -> Iterator[Ranked]:
    """Yield the texts that may replace a list, a row, a word or a number."""
    place = slot.place
    match slot.node:
        case ast.List(elts=[]) if isinstance(slot.parent, ast.Assign):
            yield from ((1, f"[{item}]") for item in _items(place, scope))
        case ast.List(elts=[_, *_] as items):
            text = ", ".join(ast.unparse(item) for item in items)
            yield from ((1, f"[{item}, {text}]") for item in _items(place, scope))
            yield from ((1, f"[{text}, {item}]") for item in _items(place, scope))
        case ast.BinOp(left, ast.Add(), right) as whole if isinstance(left, ast.List) or isinstance(right, ast.List):
            yield from ((1, f"([{item}] + {ast.unparse(whole)})") for item in _items(place, scope))
            yield from ((1, f"({ast.unparse(whole)} + [{item}])") for item in _items(place, scope))
        case ast.Constant(value=str() as word):
            yield from ((1, repr(other)) for other in scope.marked if other != word and word in scope.marked)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield from _of_number(slot, value, scope)
        case ast.Call(ast.Attribute(ast.Constant(str()), "join"), [words]):
            yield 0, f"list({ast.unparse(words)})"
    match slot.node:
        case ast.List(elts) | ast.Tuple(elts) if isinstance(slot.node.ctx, ast.Load):
            yield from _reordered(slot.node, elts)


def _items(place: Surroundings, scope: Scope) -> Iterator[str]:
    """Yield what may be missing in a list: a constant, what a table has for a word like `<S>`, an id."""
    yield from scope.constants
    yield from _looked_up(place, scope)
    if scope.marked:
        yield from map(str, IDS)


def _looked_up(place: Surroundings, scope: Scope) -> Iterator[str]:
    names = {*place.parameters, *place.variables, *(f"self.{name}" for name in place.attributes)}
    yield from (f"{table}[{word!r}]" for table in scope.tables if table in names for word in scope.marked)


def _of_number(slot: Slot, value: float, scope: Scope) -> Iterator[Ranked]:
    rank, numbers = (0, AXES) if is_axis(slot) else (2, scope.numbers)
    yield from ((rank, repr(other)) for other in numbers if other != value)
    is_float = isinstance(value, float)
    yield from ((0, repr(other)) for other in FLOATS if is_float and other != value)
    for name in (*slot.place.parameters, *(f"self.{other}" for other in slot.place.attributes)):
        # A whole number is an axis or a place more often than a value.
        yield (0 if name in slot.place.unused else 1 if is_float else 2), name
    if scope.marked and value in IDS:
        yield from ((1, text) for text in _looked_up(slot.place, scope))
        yield from ((1, str(other)) for other in IDS if other not in (value, *scope.numbers))


def _reordered(node: ast.List | ast.Tuple, items: Sequence[ast.expr]) -> Iterator[Ranked]:
    """Yield a row with two items exchanged that are no neighbours, or with one item in another place."""
    if not 2 < len(items) <= MOST_IN_ROW:
        return
    for first, last in combinations(range(len(items)), 2):
        if last > first + 1:
            yield 1, _row(node, _exchanged(items, first, last))
    for first, last in permutations(range(len(items)), 2):
        if abs(last - first) > 1:
            rest = [*items[:first], *items[first + 1 :]]
            yield 1, _row(node, [*rest[:last], items[first], *rest[last:]])


def _exchanged(items: Sequence[ast.expr], first: int, last: int) -> list[ast.expr]:
    other = [*items]
    other[first], other[last] = other[last], other[first]
    return other


def _row(node: ast.List | ast.Tuple, items: list[ast.expr]) -> str:
    return ast.unparse(ast.fix_missing_locations(type(node)(items, ast.Load())))


def exchanged_words(node: ast.FunctionDef, text: Text) -> Iterator[tuple[float, Edit]]:
    """Yield the body of a function with two of its words exchanged, like `<S>` and `</S>`."""
    words: dict[str, list[ast.Constant]] = {}
    for constant in _keys(node):
        words.setdefault(str(constant.value), []).append(constant)
    for first, last in combinations([*words][:MOST_WORDS], 2):
        changes = [(constant, repr(last)) for constant in words[first]]
        changes += [(constant, repr(first)) for constant in words[last]]
        yield 1, text.changed(min(words[first][0].lineno, words[last][0].lineno), changes)


def _keys(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the words that something is looked up by; Python 3.11 gives no places inside of an f-string."""
    match node:
        case ast.JoinedStr():
            return
        case ast.Subscript(slice=ast.Constant(value=str()) as constant):
            yield constant
    for child in ast.iter_child_nodes(node):
        yield from _keys(child)


# What may be in the wrong order or place: brackets, calls, names in a statement, and statements.

Block = tuple[ast.AST, list[ast.stmt]]

MOST_NAMES = 8
"""Names of a statement that are exchanged, two by two."""

MOST_STATEMENTS = 16
"""Statements of the longest block whose statements are moved: each may go to each place."""

EXCHANGED_RANK, MOVED_RANK = 1.0, 1.5


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
                other = map(ast.unparse, _exchanged(elts, left, right))
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
        other = {first: second, second: first}
        changes = [(part, other[label]) for label, part in reads if label in other]
        yield EXCHANGED_RANK, text.changed(node.lineno, changes)


def _reads(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
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
    return f"self.{node.attr}" if is_own(node) else ""


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


# What the fix of a known mistake looks like, so that edits like it are tried first.
#
# A fix is the words that it adds and removes, as short hashes: it orders edits, and is no text of the solution.

WORD = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\*\*|//|[=!<>]=|[-+*/%@&|~<>:]")
"""A word of a program. Brackets, commas, dots and quotes tell nothing that the other words do not tell."""

COMMENT = re.compile(r"#.*")

LIKE, JUST, SAME = 4.0, 2.0, 1.5
"""Ranks that an edit gains: at most for being like the fix of the mistake that the program has, beside that for being
just this fix, and for being that of any mistake."""

ORDER = "="
"""The fix that only changes the order of words, or names of the program's own. Many edits do no
more, so it says little beside another fix."""

_ORDERED = frozenset([ORDER])

HASH = 4
LONGEST_FIX = 24
"""Words of the longest fix that is kept: a longer one rewrites too much to be found among small edits."""


@dataclass(frozen=True)
class Clues:
    """What is known of a mistake, beside its lines: the `fixes` of known mistakes, and what is checked.

    With `is_named` the fixes are those of the mistakes that the program has by its outcomes, else of all known ones.
    `of` is the function or class that is checked, if it is one. With `writes` the program writes into its inputs.
    """

    fixes: tuple[str, ...] = ()
    is_named: bool = False
    of: str | None = None
    writes: bool = False


NO_CLUES = Clues()


class Guides:
    """Says how much an edit is like the fixes of known mistakes, as `Clues` has them.

    `variables` are the program's own names, of which no fix tells anything.
    """

    def __init__(self, fixes: Sequence[str], *, is_named: bool, variables: Iterable[str] = ()) -> None:
        self._fixes = [frozenset(fix.split()) for fix in fixes if fix]
        self._all = frozenset(self._fixes)
        self._is_named = is_named
        self._variables = frozenset(variables)
        self._words: dict[str, list[str]] = {}

    def gain(self, before: str, after: str) -> float:
        """Return how many ranks earlier an edit is to be tried, given the text before and after it."""
        if not self._fixes:
            return 0.0
        words = frozenset(_signed(self._of(before), self._of(after)) or [ORDER])
        if not self._is_named:
            return SAME if words in self._all else 0.0
        if words == _ORDERED and len(self._all) > 1:
            return SAME if _ORDERED in self._all else 0.0
        likeness = max(len(words & fix) / len(words | fix) for fix in self._fixes)
        return LIKE * likeness + (JUST if likeness == 1 and words != _ORDERED else 0.0)

    def _of(self, text: str) -> list[str]:
        if text not in self._words:
            code = COMMENT.sub("", text)
            self._words[text] = _words(code, self._variables)
        return self._words[text]


def writes_less(before: str, after: str) -> bool:
    """Return whether an edit copies what it did not copy, or writes into fewer values."""
    copies, writes = ([len(pattern.findall(text)) for text in (before, after)] for pattern in (_COPIES, _WRITES))
    return copies[0] < copies[1] or writes[0] > writes[1]


_COPIES = re.compile(r"\blist\(|\.clone\(|\bdeepcopy\(|\.copy\(")
_WRITES = re.compile(r"[a-z]_\(|[-+*/|&@]=|\.(?:append|extend|insert|sort|reverse)\(|\] = ")


def fix_of(wrong: str, right: str) -> str:
    """Return what turns a wrong program into the right one; empty if that is too many words.

    Raises whatever `ast.parse` raises.
    """
    before, after = _top_level(wrong), _top_level(right)
    shared = min(len(before), len(after))
    first = next((at for at in range(shared) if before[at] != after[at]), shared)
    last = next((at for at in range(shared - first) if before[-1 - at] != after[-1 - at]), shared - first)
    own = variables(before) | variables(after)
    # What both have before and after the change adds nothing, and to write it as text takes most of the time.
    changed = ("\n".join(part[first : len(part) - last]) for part in (before, after))
    found = _signed(*(_words(ast.unparse(ast.parse(text)), own) for text in changed))
    return " ".join(sorted(found)) or ORDER if len(found) <= LONGEST_FIX else ""


@lru_cache(maxsize=8)
def _top_level(text: str) -> list[str]:
    """Return the text of each statement at the top level of a program."""
    lines = text.split("\n")
    return ["\n".join(lines[first_line(node) - 1 : node.end_lineno]) for node in ast.parse(text).body]


def variables(parts: Iterable[str]) -> set[str]:
    """Return the names that functions of a program give to values of their own; a parameter has the contract's name."""
    names = [_stored_and_given(part) for part in parts]
    return set().union(*(stored for stored, _ in names)).difference(*(given for _, given in names))


@lru_cache(maxsize=64)
def _stored_and_given(text: str) -> tuple[set[str], set[str]]:
    """Return the names that the functions of a text assign to, and those of their parameters."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    every = (node for one in functions for node in ast.walk(one))
    names = {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names, {argument.arg for one in functions for argument in (*one.args.args, *one.args.kwonlyargs)}


def _words(code: str, variables: Collection[str]) -> list[str]:
    """Return the words of a code, but for these variables; 1.0 is the same word as 1."""
    words = (word for word in WORD.findall(code) if word not in variables)
    return [f"{float(word):g}" if word[0].isdigit() else word for word in words]


def _signed(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the words that an edit adds and removes, each with its sign and as a hash."""
    change: dict[str, int] = {}
    for word in after:
        change[word] = change.get(word, 0) + 1
    for word in before:
        change[word] = change.get(word, 0) - 1
    return [f"{'+' if count > 0 else '-'}{_hash(word)}" for word, count in change.items() if count]


def word_hashes(code: str, variables: Collection[str]) -> frozenset[str]:
    """Return the hashes of the words of a code, but for these variables."""
    return frozenset(map(_hash, _words(COMMENT.sub("", code), variables)))


@cache
def _hash(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:HASH]


RELATED, BESIDE, REACHED, AWAY, UNREACHED = 1.0, 1.5, 2.0, 3.0, 6.0
"""Ranks that an edit loses where the suspected lines take their values from, elsewhere in their functions, in what the
function that is checked uses, anywhere else, and in what that function does not use."""

LONGEST = 1000
"""Characters of the longest edit: a longer one rewrites more than one mistake."""

GUIDED = 20_000
"""Edits that are held against known fixes: more take too long."""

RANKS = {
    "another name": 1,
    "argument dropped": 1,
    "off by one": 1,
    "constant": 1,
    "condition": 1,
    "call dropped": 1,
    "statement dropped": 1,
    "in place": 2,
    "loop": 2,
    "gradient": 2,
    "block dropped": 3,
}
"""How much later an operator is tried than those without an entry: it mends less often, or costs a mistake's trace."""

UNUSED_GAIN, IDLE_GAIN = 2.0, 1.0
"""Ranks that an edit gains which uses a parameter that its function does not read, or such a variable: it was probably
forgotten."""

WRITES_LESS_GAIN = 3.0
"""Ranks that an edit gains which copies an input or writes into fewer values, where inputs are written into."""

KEPT_NAME_RANK = 1.5
"""Ranks that an edit loses which puts another name where an attribute keeps an argument of its own name."""

ORDER_RANK = 1
STEPS_BACK = 2


def repairs(source: str, lines: Sequence[int], most: int, clues: Clues = NO_CLUES) -> list[Edit]:
    """Return at most so many edits of a program, the likeliest first; `lines` are those that are suspected.

    Raises whatever `ast.parse` raises.
    """
    tree = ast.parse(source)
    text, guides = Text(source), Guides(clues.fixes, is_named=clues.is_named, variables=variables([source]))
    distances = _Distances.of(tree, lines, clues.of)
    ranked: dict[tuple[int, int, str], tuple[float, Edit]] = {}
    everywhere = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)}
    for among in (everywhere - distances.unreached, distances.unreached):
        if len(ranked) >= most:
            break
        for rank, edit in _edits(tree, text, among):
            at = edit.start, edit.end, edit.text
            if len(edit.text) > LONGEST or source[edit.start : edit.end] == edit.text:
                continue
            rank += distances.to(edit.line)
            rank -= WRITES_LESS_GAIN * (clues.writes and writes_less(source[edit.start : edit.end], edit.text))
            if at not in ranked or ranked[at][0] > rank:
                ranked[at] = rank, edit
    found = sorted(ranked.values(), key=itemgetter(0))
    worst = found[:most][-1][0] + LIKE + JUST if found else 0.0  # what is ranked behind that stays behind the last one
    near = [(rank, edit) for rank, edit in found[:GUIDED] if rank <= worst]
    guided = [(rank - guides.gain(source[edit.start : edit.end], edit.text), edit) for rank, edit in near]
    return [edit for _, edit in sorted([*guided, *found[len(near) :]], key=itemgetter(0))[:most]]


@dataclass(frozen=True)
class _Distances:
    """How far lines are from those that are suspected, in ranks."""

    suspected: AbstractSet[int]
    related: AbstractSet[int]
    beside: AbstractSet[int]
    reached: AbstractSet[int]
    unreached: AbstractSet[int]

    @classmethod
    def of(cls, tree: ast.Module, lines: Sequence[int], checked: str | None) -> "_Distances":
        return cls({*lines}, _related(tree, lines), _beside(tree, lines), *_reached(tree, checked))

    def to(self, line: int) -> float:
        """Return the ranks that an edit of a line loses."""
        if line in self.unreached:
            return UNREACHED
        near = {0.0: self.suspected, RELATED: self.related, BESIDE: self.beside, REACHED: self.reached}
        return next((distance for distance, lines in near.items() if line in lines), AWAY)


def _beside(tree: ast.Module, lines: Sequence[int]) -> set[int]:
    """Return the lines of the innermost functions that hold the suspected lines."""
    found: set[int] = set()
    spans = [
        (node.lineno, node.end_lineno or node.lineno) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    for line in lines:
        around = [span for span in spans if span[0] <= line <= span[1]]
        if around:
            first, last = min(around, key=lambda span: span[1] - span[0])
            found |= set(range(first, last + 1))
    return found


def _reached(tree: ast.Module, of: str | None) -> tuple[set[int], set[int]]:
    """Return the lines of the functions and classes that the checked one uses, and those of all others; else nothing.

    One that is named by one that is used is used too.
    """
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    reached, new = set[str](), {of.split(".")[0]} & own.keys() if of else set[str]()
    while new:
        reached |= new
        used = {part for name in new for node in ast.walk(own[name]) for part in _names(node, ast.Load)}
        new = (used & own.keys()) - reached
    lines: tuple[set[int], set[int]] = set(), set()
    for name, node in own.items() if reached else ():
        lines[name not in reached].update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _related(tree: ast.Module, lines: Sequence[int]) -> set[int]:
    """Return the lines that make what the suspected lines use: their variables, attributes and functions."""
    found: set[int] = set()
    wanted = set(lines)
    for _ in range(STEPS_BACK):
        used = {
            name for node in ast.walk(tree) if getattr(node, "lineno", 0) in wanted for name in _names(node, ast.Load)
        }
        wanted = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name in used:
                wanted |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
                stored = {name for part in ast.walk(node) for name in _names(part, ast.Store)}
                if stored & used:
                    wanted |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        wanted -= found
        found |= wanted
    return found


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[str]:
    """Return the name of a variable or an attribute that is read, or stored."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) and isinstance(node.ctx, context) else []


def _edits(tree: ast.Module, text: Text, lines: Collection[int]) -> Iterator[tuple[float, Edit]]:
    """Yield the edits of some lines, each with a rank that its place does not change."""
    scope = Scope(tree)
    for slot in [slot for slot in slots(tree) if _line(slot) in lines]:
        if isinstance(slot.parent, ast.JoinedStr | ast.FormattedValue) or isinstance(slot.node, ast.ClassDef):
            continue
        kept = KEPT_NAME_RANK * _keeps_its_name(slot)
        for operator, other in variants(slot, scope.imported):
            edit = text.replaced(slot, ast.fix_missing_locations(other))
            if edit is not None:
                yield kept + RANKS.get(operator, 0), edit
        if isinstance(slot.node, ast.expr) and not isinstance(slot.node, ast.Slice):
            span = text.span(slot.node)
            for rank, replacement in chain(additions(slot, scope), literals(slot, scope), regrouped(slot)):
                edit = Edit(slot.node.lineno, *span, replacement)
                forgotten = UNUSED_GAIN * _uses(replacement, slot.place.unused)
                yield kept + rank - max(forgotten, IDLE_GAIN * _uses(replacement, slot.place.idle)), edit
        elif isinstance(slot.node, ast.stmt):
            yield from _of_statement(slot.node, slot, scope, text)
    for first, second in pairs(tree):
        if getattr(first.node, "lineno", None) in lines:
            yield ORDER_RANK, text.exchanged(first.node, second.node)
    yield from ((rank, edit) for rank, edit in moved(tree, text) if edit.line in lines)


def _line(slot: Slot) -> int:
    """Return the line of a node, or of its statement: a part of a comprehension has none."""
    return getattr(slot.node, "lineno", slot.place.statement.lineno if slot.place.statement else 0)


def _keeps_its_name(slot: Slot) -> bool:
    """Return whether a node is the argument that an attribute of the same name keeps, as in `self.size = size`."""
    if not isinstance(slot.node, ast.Name) or slot.name != "value":
        return False
    parent = slot.parent
    targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    return any(isinstance(target, ast.Attribute) and target.attr == slot.node.id for target in targets)


def _uses(text: str, names: Sequence[str]) -> bool:
    return bool(names) and not set(re.findall(r"\w+", text)).isdisjoint(names)


def _of_statement(node: ast.stmt, slot: Slot, scope: Scope, text: Text) -> Iterator[tuple[float, Edit]]:
    for rank, line, before in insertions(slot, scope):
        yield rank, text.inserted(node, line, before=before)
    for rank, replacement in restated(node):
        yield rank, Edit(node.lineno, *text.span(node), replacement)
    yield from exchanged(slot, text)
    yield from on_one_device(slot, text)
    if isinstance(node, ast.FunctionDef):
        yield from exchanged_words(node, text)
