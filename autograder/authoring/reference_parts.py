"""Compile reference parts: from Python in `solutions/reference_parts` to tables of numbers.

Students get the tables and the interpreter for them, but no readable answer. `autograder.protocol.frames` describes
the format.
"""

import ast
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NewType

from autograder import protocol
from autograder.course import Course, Exercise

# The constants of a compiled reference part, and the errors of the compiler.


class PartError(Exception):
    """A reference part that cannot be compiled; the message is a sentence with its file and line."""


class Unsupported(Exception):
    """Python that a reference part cannot have, and what its author can write instead."""

    def __init__(self, node: ast.AST, what: str, do: str) -> None:
        super().__init__(f"{what} is not supported in a reference part: {do}")
        self.line = int(getattr(node, "lineno", 1))


Constant = NewType("Constant", str)
"""An entry of the pool, as JSON text. A part has no other text: all else in it is numbers."""

Operand = int | Constant
Row = list[Any]
Namespace = dict[str, Any]
"""The names of a file: the number of an item, a tuple with a dotted library name, or a constant."""


class Pool:
    """The constants of a part, in alphabetical order, which hides the order of their use."""

    def __init__(self) -> None:
        self._entries: set[Constant] = set()

    def constant(self, value: object) -> Constant:
        """Return the entry for a constant, a `(dotted name,)`, or the `[number]` of an item."""
        constant = Constant(json.dumps(value))
        self._entries.add(constant)
        return constant

    def sorted(self, items: Sequence[Sequence[Any]]) -> tuple[list[Any], list[list[Any]]]:
        """Return the sorted entries, and the items with numbers for their constants."""
        texts = sorted(self._entries)
        at = {text: number for number, text in enumerate(texts)}

        def numbered(part: Any, *, operand: bool) -> Any:
            if isinstance(part, str):
                return -1 - at[Constant(part)] if operand else at[Constant(part)]
            return [numbered(inner, operand=operand) for inner in part] if isinstance(part, list) else part

        numbers = []
        for item in items:
            *head, last = item
            numbers.append([*numbered(head, operand=False), numbered(last, operand=item[0] == protocol.FUNCTION)])
        return [json.loads(text) for text in texts], numbers


# Compile the body of one function of a reference part, in a subset of Python, to rows of numbers.

OPERATORS: Mapping[type[ast.AST], str] = {
    **{ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv"},
    **{ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_"},
    **{ast.USub: "neg", ast.Not: "not_", ast.Invert: "invert"},
    **{ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"},
    **{ast.Is: "is_", ast.IsNot: "is_not"},
}


class Body:
    """Compiles one function. `known` has the names of its file; `allowed` raises for names an exercise forbids."""

    def __init__(
        self, pool: Pool, known: Namespace, allowed: Callable[[ast.AST, str], str], node: ast.FunctionDef
    ) -> None:
        self.pool = pool
        self.known = known
        self.allowed = allowed
        self.node = node
        self.rows: list[Row] = []
        self.locals: dict[str, int] = {}
        self.registers = 0
        arguments = node.args
        if node.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            raise Unsupported(node, "a decorator, * or ** in a definition", "name every parameter")
        for argument in arguments.args:
            self.locals[argument.arg] = self._register()
        self.parameters = [pool.constant(argument.arg) for argument in arguments.args]
        self.defaults = [pool.constant(self.literal(default)) for default in arguments.defaults]

    def compile(self) -> list[Row]:
        """Return the rows."""
        self._block(self.node.body)
        self._add(protocol.RETURN, self.pool.constant(None))
        return self.rows

    @staticmethod
    def literal(node: ast.expr) -> Any:
        """Return the value of a number, a string, True, False or None."""
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
        raise Unsupported(node, "this constant", "use a number, a string, True, False or None")

    @staticmethod
    def dotted(node: ast.expr, known: Mapping[str, Any]) -> str | None:
        """Return the dotted library name of an expression; None if it is not one."""
        match node:
            case ast.Name(id=name) if isinstance(known.get(name), tuple):
                return str(known[name][0])
            case ast.Attribute(value=value, attr=name) if owner := Body.dotted(value, known):
                return f"{owner}.{name}"
        return None

    def _register(self) -> int:
        self.registers += 1
        return self.registers - 1

    def _add(self, *row: Any) -> Row:
        self.rows.append(list(row))
        return self.rows[-1]

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self._expression(value)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.If(test=test, body=body, orelse=orelse):
                self._choice(test, lambda: self._block(body), lambda: self._block(orelse))
            case ast.For(target=target, iter=iterated, body=body, orelse=[]):
                self._loop(target, iterated, body)
            case ast.Return(value=value):
                self._add(protocol.RETURN, self._expression(value) if value else self.pool.constant(None))
            case ast.Raise(exc=ast.Call(func=ast.Name(id="ValueError"), args=[message], keywords=[]), cause=None):
                self._add(protocol.RAISE, self._expression(message))
            case ast.Raise():
                raise Unsupported(node, "to raise this", 'write raise ValueError(f"...")')
            case _:
                do = "use assignments, calls, if, for, return and raise"
                raise Unsupported(node, f"the statement {type(node).__name__}", do)

    def _choice(self, test: ast.expr, then: Callable[[], object], otherwise: Callable[[], object]) -> None:
        unless = self._add(protocol.UNLESS, self._expression(test), None)
        then()
        jump = self._add(protocol.JUMP, None)
        unless[2] = len(self.rows)
        otherwise()
        jump[1] = len(self.rows)

    def _loop(self, target: ast.expr, iterated: ast.expr, body: Sequence[ast.stmt]) -> None:
        iterator = self._call(self._library("builtins.iter"), [self._expression(iterated)])
        start, item = len(self.rows), self._register()
        following = self._add(protocol.NEXT, item, iterator, None)
        self._store(target, item)
        self._block(body)
        self._add(protocol.JUMP, start)
        following[3] = len(self.rows)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            values = [self._copied(element) for element in value.elts]
            for one, register in zip(target.elts, values, strict=True):
                self._store(one, register)
        else:
            self._store(target, self._expression(value))

    def _copied(self, value: ast.expr) -> Operand:
        """Return a copy of a value, for a tuple assignment that may overwrite the original."""
        register = self._register()
        self._add(protocol.MOVE, register, self._expression(value))
        return register

    def _store(self, target: ast.expr, value: Operand) -> None:
        match target:
            case ast.Name(id=name):
                if name not in self.locals:
                    self.locals[name] = self._register()
                self._add(protocol.MOVE, self.locals[name], value)
            case ast.Tuple(elts=parts):
                for number, part in enumerate(parts):
                    self._store(part, self._operator("getitem", value, self.pool.constant(number)))
            case ast.Attribute(value=owner, attr=name):
                self._attribute("set", owner, name, value)
            case _:
                raise Unsupported(target, "to assign to this", "assign to a name, an attribute, or a tuple of them")

    def _library(self, dotted: str) -> Constant:
        return self.pool.constant([dotted])

    def _call(self, callee: Operand, operands: Sequence[Operand], named: Sequence[Operand] = ()) -> int:
        target = self._register()
        self._add(protocol.CALL_CODE, target, callee, len(operands), *operands, *named)
        return target

    def _operator(self, name: str, *operands: Operand) -> int:
        return self._call(self._library(f"operator.{name}"), operands)

    def _attribute(self, does: str, owner: ast.expr, name: str, *value: Operand) -> int:
        operands = [self._expression(owner), self.pool.constant(name), *value]
        return self._call(self._library(f"builtins.{does}attr"), operands)

    def _tuple(self, parts: Sequence[ast.expr]) -> int:
        values = [self._expression(part) for part in parts]
        target = self._register()
        self._add(protocol.TUPLE, target, *values)
        return target

    def _expression(self, node: ast.expr) -> Operand:
        if dotted := self.dotted(node, {name: what for name, what in self.known.items() if name not in self.locals}):
            return self._library(self.allowed(node, dotted))
        match node:
            case ast.Constant():
                return self.pool.constant(self.literal(node))
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute("get", owner, name)
            case ast.Call():
                return self._called(node)
            case ast.Subscript(value=owner, slice=at):
                return self._operator("getitem", self._expression(owner), self._expression(at))
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [self._expression(bound or ast.Constant(None)) for bound in (lower, upper, step)]
                return self._call(self._library("builtins.slice"), bounds)
            case ast.Tuple(elts=parts):
                return self._tuple(parts)
            case ast.List(elts=parts):
                return self._call(self._library("builtins.list"), [self._tuple(parts)])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._chosen(test, body, orelse)
            case ast.BoolOp(op=op, values=values):
                return self._connected(op, values)
            case ast.JoinedStr(values=values):
                return self._text(values)
        return self._computed(node)

    def _computed(self, node: ast.expr) -> Operand:
        match node:
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self._operator(OPERATORS[type(op)], self._expression(left), self._expression(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return self._operator(OPERATORS[type(op)], self._expression(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return self._operator(OPERATORS[type(op)], self._expression(left), self._expression(right))
        do = "use names, calls, operators, one comparison at a time, subscripts and slices"
        raise Unsupported(node, f"the expression `{ast.unparse(node)}`", do)

    def _name(self, node: ast.Name, name: str) -> Operand:
        if name in self.locals:
            return self.locals[name]
        match self.known.get(name):
            case int() as item:
                return self.pool.constant([item])
            case str() as constant:
                return Constant(constant)
        raise Unsupported(node, f"the name {name}, which nothing above defines,", "define or import it first")

    def _called(self, node: ast.Call) -> int:
        if ast.unparse(node) == "super().__init__()":
            return self._call(self._library("torch.nn.Module.__init__"), [self.locals["self"]])
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Unsupported(node, "* in a call", "pass every argument by itself")
        callee, operands = self._expression(node.func), [self._expression(argument) for argument in node.args]
        named: list[Operand] = []
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Unsupported(node, "** in a call", "name every argument")
            named += [self.pool.constant(keyword.arg), self._expression(keyword.value)]
        return self._call(callee, operands, named)

    def _chosen(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> int:
        target = self._register()
        self._choice(
            test,
            lambda: self._add(protocol.MOVE, target, self._expression(body)),
            lambda: self._add(protocol.MOVE, target, self._expression(orelse)),
        )
        return target

    def _connected(self, op: ast.boolop, values: Sequence[ast.expr]) -> int:
        """Compile `and` and `or` with short-circuit evaluation."""
        target, ends = self._register(), []
        for value in values:
            self._add(protocol.MOVE, target, self._expression(value))
            if isinstance(op, ast.And):
                ends.append((self._add(protocol.UNLESS, target, None), 2))
            else:
                unless = self._add(protocol.UNLESS, target, None)
                ends.append((self._add(protocol.JUMP, None), 1))
                unless[2] = len(self.rows)
        for row, at in ends:
            row[at] = len(self.rows)
        return target

    def _text(self, values: Sequence[ast.expr]) -> Operand:
        text: Operand = self.pool.constant("")
        for piece in values:
            match piece:
                case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                    part: Operand = self._call(self._library("builtins.str"), [self._expression(value)])
                case ast.Constant():
                    part = self.pool.constant(self.literal(piece))
                case _:
                    raise Unsupported(self.node, "a format or ! in an f-string", "write the value alone: {value}")
            text = self._operator("add", text, part)
        return text


BUILTINS = ("abs", "bool", "float", "int", "isinstance", "len", "list", "max", "min", "range", "str", "sum", "tuple")


def stale_parts(course: Course, wanted: Sequence[Exercise] | None = None) -> dict[Path, str]:
    """Return the content of the compiled parts that are out of date, by file; of all exercises, or of some.

    Raises `PartError` and OSError.
    """
    names = {exercise.id for exercise in course.every if wanted is None or exercise in wanted}
    sources = {file.stem: file for file in sorted(course.part_sources_dir.glob("*.py"))}
    compiled = {file.stem: file for file in sorted(course.reference_parts_dir.glob("*.json"))}
    exercises = {exercise.id: exercise for exercise in course.every}
    for name, file in sources.items():
        if name not in exercises and wanted is None:
            raise PartError(f"{_relative_name(course, file)}: no exercise of course.toml is called {name}")
    for name, file in compiled.items():
        if name not in sources and (wanted is None or name in names):
            source = _relative_name(course, course.part_sources_dir / f"{name}.py")
            raise PartError(f"{_relative_name(course, file)} has no source {source}: delete it, or put the source back")
    stale = {}
    for name in sorted(names & sources.keys()):
        text = compile_part(course, exercises[name])
        file = course.reference_parts_dir / f"{name}.json"
        if not file.is_file() or file.read_text("utf-8") != text:
            stale[file] = text
    return stale


def compile_part(course: Course, exercise: Exercise) -> str:
    """Return the table of a part. Raises `PartError` with the line, and OSError."""
    importable = {needed.id for needed in course.with_all_needs(exercise)} - {exercise.id}
    users = [one for one in course.every if exercise in course.with_all_needs(one)]  # a part runs in no other exercise
    forbidden = {name for one in users for name in one.forbidden}

    def read(name: str) -> tuple[str, str]:
        file = course.part_sources_dir / f"{name}.py"
        return file.read_text("utf-8"), _relative_name(course, file)

    return compile_text(exercise.id, read, importable, forbidden)


def compile_text(
    name: str, read: Callable[[str], tuple[str, str]], importable: Collection[str], forbidden: Collection[str]
) -> str:
    """Return the table of a part by name; `read` returns the text and the file name of a part."""
    compiler = _Compiler(read, importable, forbidden)
    exports = compiler.file(name, None)
    return compiler.table(exports)


def _relative_name(course: Course, file: Path) -> str:
    return file.relative_to(course.root).as_posix()


class _Compiler:
    """Compiles a file and its imports into one pool and one list of items."""

    def __init__(
        self, read: Callable[[str], tuple[str, str]], importable: Collection[str], forbidden: Collection[str]
    ) -> None:
        self.read = read
        self.importable = importable
        self.forbidden = forbidden
        self.pool = Pool()
        self.items: list[list[object]] = []
        self._files: dict[str, Namespace] = {}

    def file(self, name: str, asked: str | None) -> Namespace:
        """Return the definitions of a part by name; `asked` is the location of the import."""
        if name in self._files:
            return self._files[name]
        try:
            text, path = self.read(name)
            tree = ast.parse(text)
        except FileNotFoundError as error:
            raise PartError(f"{asked}: there is no reference part {name}.py to import from") from error
        except SyntaxError as error:
            raise PartError(f"{path}:{error.lineno}: {error.msg}") from error
        known: Namespace = {builtin: (f"builtins.{builtin}",) for builtin in BUILTINS}
        defined: Namespace = {}
        try:
            for node in tree.body:
                defined.update(self._statement(node, {**known, **defined}, path))
        except Unsupported as error:
            raise PartError(f"{path}:{error.line}: {error}") from error
        self._files[name] = {name: what for name, what in defined.items() if isinstance(what, int)}
        return self._files[name] if asked else self._exported(defined, tree, path)

    def _exported(self, defined: Namespace, tree: ast.Module, path: str) -> Namespace:
        """Return the public definitions of a file, which are the names of the contract."""
        own = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        public = {name: defined[name] for name in own if not name.startswith("_")}
        if not public:
            raise PartError(
                f"{path}: defines nothing public; define the names of the contract, and start others with _"
            )
        return public

    def _statement(self, node: ast.stmt, known: Namespace, path: str) -> Namespace:
        match node:
            case ast.Import(names=names):
                return {alias.asname or alias.name.split(".")[0]: self._module(node, alias) for alias in names}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                return {alias.asname or alias.name: self._imported(node, module, alias.name, path) for alias in names}
            case ast.FunctionDef():
                return {node.name: self._function(node, known)}
            case ast.ClassDef():
                return {node.name: self._class(node, known)}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return {name: self.pool.constant(Body.literal(value))}
            case ast.Expr(value=ast.Constant(value=str())):
                return {}
        raise Unsupported(node, "this statement outside of functions", "use imports, constants, functions and classes")

    def _module(self, node: ast.stmt, named: ast.alias) -> tuple[str]:
        return (self._allowed(node, named.name if named.asname else named.name.split(".")[0]),)

    def _imported(self, node: ast.stmt, module: str, name: str, path: str) -> object:
        if module.split(".")[0] in ("torch", "math"):
            return (self._allowed(node, f"{module}.{name}"),)
        if module not in self.importable:
            do = "import from torch, math, or the part of an exercise that this one needs in course.toml"
            raise Unsupported(node, f"to import from {module}", do)
        found = self.file(module, f"{path}:{node.lineno}")
        if name not in found:
            raise Unsupported(node, f"to import {name}, which the part {module} does not define,", "look at its names")
        return found[name]

    def _allowed(self, node: ast.AST, dotted: str) -> str:
        """Return a dotted name of the library; raises `Unsupported` if an exercise forbids it."""
        if dotted.split(".")[0] not in ("torch", "math", "builtins"):
            raise Unsupported(node, f"to import {dotted}", "import torch or math")
        for name in self.forbidden:
            if dotted == name or dotted.startswith(f"{name}."):
                raise Unsupported(node, f"to use {name}, which an exercise forbids,", "compute it by simpler operators")
        return dotted

    def _function(self, node: ast.FunctionDef, known: Namespace) -> int:
        body = Body(self.pool, known, self._allowed, node)
        rows = body.compile()
        name = self.pool.constant(node.name)
        return self._item([protocol.FUNCTION, name, body.registers, body.parameters, body.defaults, rows])

    def _class(self, node: ast.ClassDef, known: Namespace) -> int:
        bases = [Body.dotted(base, known) for base in node.bases]
        if bases not in ([], ["torch.nn.Module"]) or node.keywords or node.decorator_list:
            raise Unsupported(node, "a class with another base than nn.Module", "write class X(nn.Module) or class X")
        methods = []
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                methods.append(self._function(member, known))
            elif not (isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant)):
                raise Unsupported(member, "this statement in a class", "move it into __init__")
        return self._item([protocol.CLASS if bases else protocol.PLAIN, self.pool.constant(node.name), methods])

    def _item(self, item: list[object]) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def table(self, exports: Namespace) -> str:
        """Return the table as JSON, a line for each item."""
        pool, items = self.pool.sorted(self.items)
        made = json.dumps(exports, sort_keys=True)
        head = f'{{"format":{protocol.FORMAT},"exports":{made},\n"pool":{json.dumps(pool)},\n'
        lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in items)
        return f'{head}"items":[\n{lines}\n]}}\n'
