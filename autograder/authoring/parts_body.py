"""Compile the body of one function of a reference part, in a subset of Python, to rows of numbers."""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.authoring.parts_pool import Constant, Namespace, Operand, Pool, Row, Unsupported
from autograder.protocol.part_code import CALL, JUMP, MOVE, NEXT, RAISE, RETURN, TUPLE, UNLESS

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
        self._add(RETURN, self.pool.constant(None))
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
                self._add(RETURN, self._expression(value) if value else self.pool.constant(None))
            case ast.Raise(exc=ast.Call(func=ast.Name(id="ValueError"), args=[message], keywords=[]), cause=None):
                self._add(RAISE, self._expression(message))
            case ast.Raise():
                raise Unsupported(node, "to raise this", 'write raise ValueError(f"...")')
            case _:
                do = "use assignments, calls, if, for, return and raise"
                raise Unsupported(node, f"the statement {type(node).__name__}", do)

    def _choice(self, test: ast.expr, then: Callable[[], object], otherwise: Callable[[], object]) -> None:
        unless = self._add(UNLESS, self._expression(test), None)
        then()
        jump = self._add(JUMP, None)
        unless[2] = len(self.rows)
        otherwise()
        jump[1] = len(self.rows)

    def _loop(self, target: ast.expr, iterated: ast.expr, body: Sequence[ast.stmt]) -> None:
        iterator = self._call(self._library("builtins.iter"), [self._expression(iterated)])
        start, item = len(self.rows), self._register()
        following = self._add(NEXT, item, iterator, None)
        self._store(target, item)
        self._block(body)
        self._add(JUMP, start)
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
        self._add(MOVE, register, self._expression(value))
        return register

    def _store(self, target: ast.expr, value: Operand) -> None:
        match target:
            case ast.Name(id=name):
                if name not in self.locals:
                    self.locals[name] = self._register()
                self._add(MOVE, self.locals[name], value)
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
        self._add(CALL, target, callee, len(operands), *operands, *named)
        return target

    def _operator(self, name: str, *operands: Operand) -> int:
        return self._call(self._library(f"operator.{name}"), operands)

    def _attribute(self, does: str, owner: ast.expr, name: str, *value: Operand) -> int:
        operands = [self._expression(owner), self.pool.constant(name), *value]
        return self._call(self._library(f"builtins.{does}attr"), operands)

    def _tuple(self, parts: Sequence[ast.expr]) -> int:
        values = [self._expression(part) for part in parts]
        target = self._register()
        self._add(TUPLE, target, *values)
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
            case Constant() as constant:
                return constant
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
            lambda: self._add(MOVE, target, self._expression(body)),
            lambda: self._add(MOVE, target, self._expression(orelse)),
        )
        return target

    def _connected(self, op: ast.boolop, values: Sequence[ast.expr]) -> int:
        """Compile `and` and `or` with short-circuit evaluation."""
        target, ends = self._register(), []
        for value in values:
            self._add(MOVE, target, self._expression(value))
            if isinstance(op, ast.And):
                ends.append((self._add(UNLESS, target, None), 2))
            else:
                unless = self._add(UNLESS, target, None)
                ends.append((self._add(JUMP, None), 1))
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
