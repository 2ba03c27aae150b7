"""The text of a program, edits of it, and the operators: each turns one node into wrong ones."""

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import permutations
from textwrap import indent
from typing import TypeGuard

# Find the nodes of a program that a mutant may change.

FIXED = ("annotation", "returns", "decorator_list", "ctx", "type_params")
"""Fields whose nodes are no mutants: they are no behaviour, or are changed with the definition they belong to."""

Children = list[tuple[int | None, ast.AST]]


@dataclass(frozen=True)
class Surroundings:
    """What surrounds a node: the statement, parameters and variables of the function, the attributes of the class.

    `unused` are parameters that the function does not read, `idle` such variables.
    """

    where: tuple[str, ...] = ()
    statement: ast.stmt | None = None
    parameters: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    in_loop: bool = False


@dataclass(frozen=True)
class Slot:
    """A node of a tree, its parent and the field of the parent that holds it; `put` replaces the node."""

    node: ast.AST
    parent: ast.AST
    name: str
    place: Surroundings
    put: Callable[[ast.AST], None] = field(repr=False)

    @property
    def is_owner(self) -> bool:
        """Whether the node is called or indexed, or an attribute of it is read."""
        return self.name == "func" or (self.name == "value" and isinstance(self.parent, ast.Attribute | ast.Subscript))


def slots(tree: ast.Module) -> Iterator[Slot]:
    """Yield every node that can be replaced, in the order of the program. Imports and docstrings stay."""
    return _slots(tree, Surroundings())


def _slots(node: ast.AST, place: Surroundings) -> Iterator[Slot]:
    for name, value in ast.iter_fields(node):
        if name in FIXED:
            continue
        children: Children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for at, child in children:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom | ast.operator):
                continue
            if is_text(child):
                continue
            inner = _within(place, node, child)
            if inner.statement is not None and isinstance(child, ast.expr | ast.stmt | ast.comprehension):
                yield Slot(child, node, name, inner, _setter(node, name, at))
            if not is_negative(child):
                yield from _slots(child, inner)


def pairs(tree: ast.Module) -> Iterator[tuple[Slot, Slot]]:
    """Yield every two statements of a function that follow each other, and whose order matters."""
    previous: dict[tuple[int, str], Slot] = {}
    for slot in slots(tree):
        if not isinstance(slot.node, ast.stmt) or isinstance(slot.parent, ast.Module | ast.ClassDef):
            continue
        before = previous.get((id(slot.parent), slot.name))
        previous[id(slot.parent), slot.name] = slot
        if before is not None and _depend(before.node, slot.node):
            yield before, slot


def _depend(first: ast.AST, second: ast.AST) -> bool:
    """Return whether the order of two statements may matter: one changes what the other uses, or has an effect."""
    if _has_effect(first) or _has_effect(second):
        return True
    return bool(_names(first, stored=True) & _names(second) or _names(first) & _names(second, stored=True))


def _has_effect(node: ast.AST) -> bool:
    """Return whether a statement is a call, which may change anything. `super().__init__()` comes first by custom."""
    return isinstance(node, ast.Expr) and "super()" not in ast.unparse(node)


def _names(node: ast.AST, *, stored: bool = False) -> set[str]:
    """Return the names and attributes that a statement uses, or those that it stores, also in a part of them."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and (
            not stored or isinstance(part.ctx, ast.Store)
        ):
            found.add(ast.unparse(part.value if isinstance(part, ast.Subscript) else part))
    return found - {"self"}


def is_text(node: ast.AST) -> bool:
    """Return whether a statement is a docstring, or another text that does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_negative(node: ast.AST) -> bool:
    """Return whether a node is a whole number below 0: Python reads it as a minus sign before a constant."""
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


def _read(function: ast.FunctionDef) -> set[str]:
    """Return the names whose values a function reads: a comparison with None alone uses no value."""
    compared = {
        id(node.left)
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and all(isinstance(sign, ast.Is | ast.IsNot) for sign in node.ops)
    }
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return {node.id for node in names if id(node) not in compared}


def _within(place: Surroundings, parent: ast.AST, child: ast.AST) -> Surroundings:
    if isinstance(parent, ast.For | ast.While) and isinstance(child, ast.stmt):
        place = replace(place, in_loop=True)
    if isinstance(parent, ast.FunctionDef) and isinstance(child, ast.stmt):
        arguments = [*parent.args.posonlyargs, *parent.args.args, *parent.args.kwonlyargs]
        names = tuple(argument.arg for argument in arguments if argument.arg != "self") or place.parameters
        stored = (node for node in ast.walk(parent) if isinstance(node, ast.Name))
        assigned = (node.id for node in stored if isinstance(node.ctx, ast.Store))
        variables = tuple(dict.fromkeys(name for name in assigned if name.strip("_")))
        read = _read(parent)
        unused, idle = (tuple(name for name in group if name not in read) for group in (names, variables))
        place = replace(
            place,
            where=(*place.where, parent.name),
            parameters=names,
            variables=variables,
            unused=unused,
            idle=idle,
            in_loop=False,
        )
    elif isinstance(parent, ast.ClassDef):
        kept = (node for node in ast.walk(parent) if isinstance(node, ast.Attribute))
        attributes = tuple(node.attr for node in kept if isinstance(node.ctx, ast.Store))
        place = replace(place, where=(*place.where, parent.name), attributes=attributes)
    return replace(place, statement=child) if isinstance(child, ast.stmt) else place


@dataclass(frozen=True)
class Edit:
    """A replacement of the characters from `start` to `end` of a program; `line` is the line that it is about."""

    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """Return the program with the edit."""
        return f"{source[: self.start]}{self.text}{source[self.end :]}"

    @property
    def adds(self) -> str:
        """The side of its line on which it adds another one, `above` or `below`; empty if it changes the line."""
        if self.start != self.end or "\n" not in self.text:
            return ""
        return "below" if self.text.startswith("\n") else "above"


class Text:
    """The text of a program, in which the places of nodes are found."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends; raises AttributeError for one without a place."""
        first, last = getattr(node, "lineno"), getattr(node, "end_lineno")  # noqa: B009
        return self._at(first, getattr(node, "col_offset")), self._at(last, getattr(node, "end_col_offset"))  # noqa: B009

    def _at(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        before = column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + before

    def replaced(self, slot: Slot, other: ast.AST) -> Edit | None:
        """Return the edit that puts another node in place of one."""
        statement = slot.place.statement
        assert statement is not None
        if isinstance(slot.node, ast.expr) and not isinstance(slot.node, ast.Slice) and isinstance(other, ast.expr):
            plain = isinstance(other, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
            text = ast.unparse(other)
            return Edit(slot.node.lineno, *self.span(slot.node), text if plain else f"({text})")
        if isinstance(slot.node, ast.stmt) and isinstance(other, ast.stmt):
            return Edit(statement.lineno, *self.span(statement), self._statement(other, statement.col_offset))
        if hasattr(statement, "body"):
            return None
        slot.put(other)
        text = self._statement(statement, statement.col_offset)
        slot.put(slot.node)
        return Edit(getattr(slot.node, "lineno", statement.lineno), *self.span(statement), text)

    def _statement(self, node: ast.stmt, column: int) -> str:
        return indent(ast.unparse(ast.fix_missing_locations(node)), " " * column).lstrip()

    def changed(self, line: int, changes: Sequence[tuple[ast.AST, str]]) -> Edit:
        """Return one edit that puts other texts in place of several nodes, none of which is in another one."""
        spans = sorted((self.span(node), text) for node, text in changes)
        start, end = spans[0][0][0], spans[-1][0][1]
        parts, at = [], start
        for (begin, stop), text in spans:
            parts += [self.source[at:begin], text]
            at = stop
        return Edit(line, start, end, "".join(parts))

    def exchanged(self, first: ast.AST, second: ast.AST) -> Edit:
        """Return the edit that exchanges two statements."""
        (start, end), (after, last) = self.span(first), self.span(second)
        parts = self.source[after:last], self.source[end:after], self.source[start:end]
        return Edit(getattr(first, "lineno", 1), start, last, "".join(parts))

    def inserted(self, statement: ast.stmt, text: str, *, before: bool = False) -> Edit:
        """Return the edit that puts a line before or behind a statement, with its indentation."""
        start, end = self.span(statement)
        pad = "\n" + " " * statement.col_offset
        if before:
            return Edit(statement.lineno, start, start, f"{text}{pad}")
        return Edit(statement.lineno, end, end, f"{pad}{text}")

    def has_own_lines(self, statement: ast.stmt) -> bool:
        """Whether a statement shares no line with other code, so that its lines can be moved."""
        start, end = self.span(statement)
        before = self.source[self.starts[statement.lineno - 1] : start]
        behind = self.source[end : self.starts[statement.end_lineno or statement.lineno]]
        return not before.strip() and not behind.partition("#")[0].strip() and not self.source.startswith("elif", start)

    def moved(self, statement: ast.stmt, line: int, column: int, *, leaves_nothing: bool = False) -> Edit:
        """Return the edit that puts whole lines before a line, with the indentation of its statements.

        With `leaves_nothing` the block that they are taken from gets a `pass`.
        """
        first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
        shift = column - statement.col_offset
        taken = [_shifted(text, shift) for text in self.lines[first:last]]
        left = [" " * statement.col_offset + "pass"] if leaves_nothing else []
        at = line - 1
        lines = [*taken, *self.lines[at:first], *left] if at <= first else [*left, *self.lines[last:at], *taken]
        start, end = self.starts[min(at, first)], min(self.starts[max(at, last)] - 1, len(self.source))
        return Edit(statement.lineno, start, max(start, end), "\n".join(lines))


def _shifted(line: str, by: int) -> str:
    return " " * by + line if by > 0 else line[min(-by, len(line) - len(line.lstrip())) :]


# What a whole program has that an edit of it may use.

SHORT, MOST_AROUND = 50, 6
"""Characters of an expression that is tried in place of a name in it, and how many are."""

LIBRARIES = ("torch", "numpy")
"""Modules beside Python's own whose functions no exercise has written."""

MOST_ITEMS = 8
"""Words like `<S>`, and constants of the module, that are tried in a list."""


@dataclass(frozen=True)
class Signature:
    """The arguments that a function of the program takes; `more` says that it takes any others too."""

    positional: tuple[str, ...]
    keywords: frozenset[str]
    more: bool

    @classmethod
    def of(cls, function: ast.FunctionDef, *, is_method: bool) -> "Signature":
        """Return the arguments that a caller passes."""
        own = function.args
        positional = tuple(argument.arg for argument in (*own.posonlyargs, *own.args))[is_method:]
        named = (argument.arg for argument in own.kwonlyargs)
        return cls(positional, frozenset((*positional, *named)), own.vararg is not None or own.kwarg is not None)

    def takes(self, call: ast.Call, keyword: str | None) -> bool:
        """Return whether a call may have one argument more: under a name, or after its last position."""
        if self.more or any(isinstance(argument, ast.Starred) for argument in call.args):
            return True
        if keyword is None:
            return len(call.args) < len(self.positional)
        return keyword in self.keywords and keyword not in self.positional[: len(call.args)]


_ANY = Signature((), frozenset(), more=True)


class Scope:
    """What a whole program has: its imports, the attributes it calls, and the names of its keyword arguments.

    `forgotten` are attributes that it makes and never reads, `signatures` those of its functions, classes and methods.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.imported = imported_names(tree)
        self.parts = frozenset(_parts(tree))
        self.signatures: dict[str, Signature] = {}
        for name, signature in _signatures(tree):
            is_one = self.signatures.setdefault(name, signature) == signature
            self.signatures[name] = signature if is_one else _ANY
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.called = tuple(dict.fromkeys(name_of(call.func) for call in calls if is_own(call.func)))
        own = [node for node in ast.walk(tree) if is_own(node)]
        read = {node.attr for node in own if isinstance(node.ctx, ast.Load)}
        self.forgotten = tuple(dict.fromkeys(node.attr for node in own if node.attr not in read))
        self.keywords = tuple(
            dict.fromkeys(
                f"{keyword.arg}={ast.unparse(keyword.value)}"
                for call in calls
                for keyword in call.keywords
                if keyword.arg and not isinstance(keyword.value, ast.Lambda)
            )
        )
        self._around = _expressions(tree)
        constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        self.numbers = tuple(dict.fromkeys(value for value in constants if type(value) in (int, float)))
        words = dict.fromkeys(value for value in constants if isinstance(value, str) and value.startswith("<"))
        self.marked = tuple(words)[:MOST_ITEMS]
        self.tables = tuple(dict.fromkeys(_tables(tree)))[:MOST_ITEMS]
        self.constants = tuple(dict.fromkeys(_constants(tree)))[:MOST_ITEMS]

    def takes(self, call: ast.Call, keyword: str | None = None) -> bool:
        """Return whether what is called may take one argument more, as far as the program tells."""
        name = call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func) if is_own(call.func) else ""
        signature = self.signatures.get(name)
        return signature is None or signature.takes(call, keyword)

    def alike(self, name: str) -> tuple[str, ...]:
        """Return the other functions and classes that take as many arguments by their position as one."""
        count = len(self.signatures[name].positional)
        others = (other for other, signature in self.signatures.items() if len(signature.positional) == count)
        return tuple(other for other in others if other != name and other.isidentifier())

    def around(self, text: str, place: Surroundings) -> tuple[str, ...]:
        """Return short expressions that a function has elsewhere, and that contain a name."""
        return self._around.get((place.where[-1] if place.where else "", text), ())


def is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Return whether a node is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def imported_names(tree: ast.Module) -> frozenset[str]:
    """Return the names that a program imports: top-level modules, and all names that its imports bind."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {name.asname or name.name.split(".")[0] for name in node.names}
        if isinstance(node, ast.Import):
            names |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return frozenset(names)


def _expressions(tree: ast.Module) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return, for each function and each name in it, the short calls and operations that contain the name."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.Call | ast.BinOp | ast.Subscript):
                continue
            text = ast.unparse(node)
            if len(text) > SHORT:
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Name | ast.Attribute):
                    found.setdefault((function.name, ast.unparse(part)), {})[f"({text})"] = None
    return {key: tuple(texts)[:MOST_AROUND] for key, texts in found.items()}


def _constants(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the module itself assigns, and those in capitals that it imports."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Name):
                yield part.id
        if isinstance(statement, ast.ImportFrom):
            yield from (name.asname or name.name for name in statement.names if name.name.isupper())


def _tables(tree: ast.Module) -> Iterator[str]:
    """Yield what is indexed by a word, and what is asked for one with `get`."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name() | ast.Attribute() as table, slice=ast.Constant(value=str())):
                yield ast.unparse(table)
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as table, attr="get")):
                yield ast.unparse(table)


def _signatures(tree: ast.Module) -> Iterator[tuple[str, Signature]]:
    """Yield the functions of a program, its classes by their constructors, and its methods as `self.name`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, Signature.of(node, is_method=False)
        if not isinstance(node, ast.ClassDef):
            continue
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.decorator_list:
                name = node.name if part.name == "__init__" else f"self.{part.name}"
                yield name, Signature.of(part, is_method=True)


def _parts(tree: ast.Module) -> Iterator[str]:
    """Yield the functions and classes of the program, and the files of other exercises and what it imports of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.Import):
            yield from (name.asname or name.name for name in node.names if not _is_library(name.name))
        if isinstance(node, ast.ImportFrom) and not _is_library(node.module or ""):
            yield from (name.asname or name.name for name in node.names)


def _is_library(module: str) -> bool:
    name = module.split(".")[0]
    return name in sys.stdlib_module_names or name in LIBRARIES


def name_of(function: ast.expr) -> str:
    """Return the last name of what is called; "" if it has none."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


# The operators: each turns one node of a program into wrong ones, and has a name.
#
# Operators that write a method of a library are used only if the program imports this library.

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
_PAIRS = (
    *(("sin", "cos"), ("sum", "mean"), ("ones", "zeros"), ("ones_like", "zeros_like"), ("tril", "triu")),
    *(("softmax", "log_softmax"), ("all", "any"), ("min", "max"), ("floor", "ceil")),
)
NAMES = {one: other for pair in _PAIRS for one, other in permutations(pair)} | {
    "amax": "amin",
    "argmax": "argmin",
    "full_like": "zeros_like",
    "eval": "train",
    "exp": "sigmoid",
    "sqrt": "exp",
    "relu": "tanh",
    "var": "std",
    "append": "extend",
    "popleft": "pop",
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
    if isinstance(parent, ast.Call) and name_of(parent.func) in MASKED and parent.args[:1] == [node]:
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
    return isinstance(node, ast.Call) and name_of(node.func) in ("abs", "fabs")


def _of_sign(slot: Slot, node: ast.UnaryOp) -> Iterator[Variant]:
    if is_negative(node) and isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int):
        operator, value = ("axis" if is_axis(slot) else "off by one"), node.operand.value
        yield from ((operator, ast.Constant(other)) for other in (1 - value, -value - 1, value))
    else:
        yield ("sign" if isinstance(node.op, ast.USub) else "boolean"), node.operand


def _of_constant(slot: Slot, value: object) -> Iterator[Variant]:
    if isinstance(slot.parent, ast.JoinedStr):
        return
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        operator = "axis" if is_axis(slot) else "off by one"
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


def is_axis(slot: Slot) -> bool:
    """Return whether a whole number is the number of an axis."""
    if isinstance(slot.parent, ast.keyword):
        return slot.parent.arg in AXIS_WORDS
    return isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) in AXIS_CALLS


def _of_call(node: ast.Call, imported: Collection[str]) -> Iterator[Variant]:
    function, arguments, keywords = node.func, node.args, node.keywords
    name = name_of(function)
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
    if is_own(node) and node.attr in slot.place.attributes:
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


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [argument], [])


def _method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])


# Expressions with one part changed: a comparison, the axis of a sum, an end of a slice, what a list repeats.

Ranked = tuple[float, str]
"""An addition, and how much later it is tried than the likeliest ones."""

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
            yield from ((1, f"({ast.unparse(left)} {sign} {ast.unparse(right)})") for sign in SIGNS.values())
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
