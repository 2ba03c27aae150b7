"""What may be missing in a program: a call, a factor, a term, an argument, another name, an axis, a statement.

Every addition is text. It uses the names of the program alone, so that it means the same wherever it stands.
"""

import ast
from collections.abc import Iterable, Iterator

from autograder.edits.parts import Ranked, changed_parts
from autograder.edits.replacements import MAKERS, MASKED
from autograder.edits.scope import Scope, is_own, name_of
from autograder.edits.slots import Place, Slot
from autograder.edits.text import Edit, Text

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
    if _is_gone_through(slot):
        yield from ((rank, f"{call}({text})") for rank, call in ((1, "dict.fromkeys"), (2, "sorted"), (2, "reversed")))
    if _is_end(slot):
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
            yield from _of_names(name, place, slot.is_owner)
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


def _of_names(name: str, place: Place, is_owner: bool) -> Iterator[Ranked]:
    for other in dict.fromkeys((*place.parameters, *place.variables)):
        if other != name:
            yield 0, other
    if not is_owner:
        yield from ((1, f"self.{other}") for other in place.attributes)


def _is_fill(slot: Slot) -> bool:
    """Whether an expression is what a mask fills in, or a number so large that it may be meant to."""
    node, parent = slot.node, slot.parent
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(number, ast.Constant) and isinstance(number.value, float) and number.value > LARGE:
        return not isinstance(parent, ast.UnaryOp)
    return isinstance(parent, ast.Call) and name_of(parent.func) in MASKED and node in parent.args[-1:]


def _of_call(node: ast.Call, place: Place, scope: Scope) -> Iterator[Ranked]:
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


def _is_part(func: ast.expr, place: Place, scope: Scope) -> bool:
    """Whether what is called is a part of this program, or of a model that it was given."""
    match func:
        case ast.Name(id=name):
            return name in scope.parts or name == "self" or (name in place.parameters and name.startswith(OWNERS))
        case ast.Attribute(value=ast.Name(id=name)):
            return name == "self" or name in scope.parts or (name in place.parameters and name.startswith(OWNERS))
    return False


def _is_end(slot: Slot) -> bool:
    """Whether an expression is an end of a slice, of a range or of a comparison."""
    in_range = isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) == "range"
    return slot.name in ("lower", "upper", "comparators") or in_range


def _is_gone_through(slot: Slot) -> bool:
    """Whether an expression is what a loop goes through, or counts."""
    counted = isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) == "enumerate" and slot.name == "args"
    return slot.name == "iter" or counted


def _may_be_wrapped(slot: Slot) -> bool:
    """Whether an expression is a value of its own: what is assigned, returned, an argument or an operand."""
    if slot.name in ("value", "iter") and isinstance(slot.parent, ast.stmt):
        return not isinstance(slot.parent, ast.Expr)
    return slot.name in ("args", "left", "right", "elt", "elts", "comparators") and not isinstance(
        slot.node, ast.Constant
    )


def _wraps(node: ast.expr, text: str, place: Place, scope: Scope) -> Iterator[Ranked]:
    """Yield an expression inside of what may be missing around it."""
    whole = f"({text})"
    for attribute in scope.forgotten:
        if attribute in place.attributes:
            yield FORGOTTEN_RANK, f"self.{attribute}({text})"
    for attribute in scope.called:
        if attribute in place.attributes and f"self.{attribute}" != text:
            yield 0, f"self.{attribute}({text})"
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
    yield from ((2, other) for other in _changed(whole, text))
    for name in place.parameters:
        yield from ((2, f"{whole}.to({name}.{what})") for what in ("device", "dtype"))


def _changed(whole: str, text: str) -> tuple[str, ...]:
    return (
        *(f"max({text}, 1)", f"list({text})", f"(-{whole})"),
        *(f"({whole} {change})" for change in ("+ 1", "- 1", "* 2", "/ 2")),
    )


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
            yield from ((1, f"{target} = self.{name}({target})", False) for name in _modules(place, scope))
        elif is_own(node.targets[0]):
            value, name = ast.unparse(node.value), target.removeprefix("self.")
            yield 1, f'del {target}; self.register_buffer("{name}", {value})', False
            yield 1, f'{target} = __import__("torch").nn.Parameter({target})', False
    for name in place.parameters:
        if name.startswith(("model", "optim", "net")):
            yield from ((2, f"{name}.{mode}()", before) for mode in MODES for before in (True, False))
    for name in place.parameters:
        yield from ((2, f"{name} = self.{module}({name})", True) for module in _modules(place, scope))
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


def _modules(place: Place, scope: Scope) -> Iterable[str]:
    return [name for name in scope.called if name in place.attributes]
