"""Facts that the judge and the sandbox share: the worker's code, its scratch folder and environment, message sizes."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

SHIPPED = (
    *("__init__.py", "faces.py", "checks", "edits", "protocol", "worker"),
    *("sandbox/__init__.py", "sandbox/confined"),
)
"""The part of the kit that a worker sees: neither the judge nor the course."""

SCRATCH = "/scratch"
SCRATCH_MIB = 16

MESSAGE_BYTES = 1 << 16
"""The longest message between the judge, a relay and a zygote: a request or an event in JSON."""


PYTHON_OPTIONS = ("-s", "-S", "-P", "-X", "utf8")
"""How Python starts for a worker: with nothing of its user. `-I` would ignore the fixed order of sets too."""


def worker_environment(folder: str) -> dict[str, str]:
    """Return the environment of a worker: one thread, no secrets, a home in `folder`, and a fixed order of sets."""
    return {
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TRITON_INTERPRET": "1",  # kernels of Triton run as Python, on the CPU
        "TRITON_FRONT_END_DEBUGGING": "1",  # and their exceptions keep their type and their line
    }


LIBRARY = "--library="


def arguments_of(libraries: Iterable[str], packages: Iterable[str]) -> list[str]:
    """Return the arguments of a worker's programs: what to load at the start, and the folders to find it in."""
    return [*(f"{LIBRARY}{name}" for name in libraries), *packages]


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the libraries and the folders among the arguments of a worker's program."""
    libraries = [argument.removeprefix(LIBRARY) for argument in arguments if argument.startswith(LIBRARY)]
    return libraries, [argument for argument in arguments if not argument.startswith(LIBRARY)]


# Labels in the log of a worker: each says which trial of a check, or which import, printed what follows.

_LABEL = re.compile(rb"\x1e([^ \x1e]{1,400}) ([^ \x1e]{1,400}) (\d{1,9})\x1e")
_CUT_LABEL = re.compile(rb"\x1e[^\x1e\n]*\Z")


class PrintSection(NamedTuple):
    """What was printed below one label; `check` is "" for the import of the exercise."""

    exercise: str
    check: str
    trial: int
    text: str


def label(exercise: str, check: str = "", trial: int = 0) -> bytes:
    """Return the label of what a trial prints, or of what the import of an exercise prints."""
    return f"\x1e{exercise} {check or '-'} {trial}\x1e".encode()


def sections(log: bytes) -> Iterator[PrintSection]:
    """Yield the sections of a log. What was printed before the first label belongs to no program."""
    _, *parts = _LABEL.split(log)
    parts[-1:] = [_CUT_LABEL.sub(b"", text) for text in parts[-1:]]
    for exercise, check, trial, text in zip(*(parts[at::4] for at in range(4)), strict=True):
        names = [name.decode("utf-8", "replace") for name in (exercise, check)]
        yield PrintSection(names[0], names[1].removeprefix("-"), int(trial), text.decode("utf-8", "replace"))


# The format of a compiled reference part: a pool of constants, and functions as rows of numbers.
#
# A part is JSON: `format`, `exports` (from a name of the contract to the number of an item), `pool` and `items`. An
# entry of the pool is a constant, a list with the dotted name of a library function, or a list with the number of an
# item. An item is a function `[FUNCTION, name, registers, parameters, defaults, rows]`, a module `[CLASS, name,
# methods]` or a class without a base `[PLAIN, name, methods]`; all fields are numbers. An operand of 0 or more is a
# register, a negative one a constant: -1 is the first of the pool. The first number of a row is its operation, one of
# those below.

FORMAT = 1

FUNCTION, CLASS, PLAIN = 0, 1, 2

CALL_CODE = 0
"""`CALL target callee count`, then `count` operands, then for each keyword argument its name and its operand."""

TUPLE = 1
"""`TUPLE target`, then the operands it is made of."""

MOVE = 2
"""`MOVE target operand`."""

JUMP = 3
"""`JUMP row`."""

UNLESS = 4
"""`UNLESS operand row`: jump if the operand is false."""

NEXT = 5
"""`NEXT target iterator row`: jump if the iterator has ended."""

RETURN = 6
"""`RETURN operand`."""

RAISE = 7
"""`RAISE operand`: raise a ValueError with this message."""


# What an exercise may forbid beside dotted names: kinds of syntax, like `syntax:for`, and packages.
#
# `package:transformers` refuses a package whether or not it is installed. The worker never imports it.

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


class Usual(NamedTuple):
    """What programs of a course use: dotted names, and with each reason the entries that are odd all the same."""

    names: tuple[str, ...] = ()
    odd: tuple[tuple[str, tuple[str, ...]], ...] = ()


WAYS = {
    "way:unlisted": "a module, or a name of one, that is not usual",
    "way:private": "a private name that the file does not define",
    "way:computed-name": "`getattr` with a name that is computed",
    "way:module-as-value": "a module that is handed on, stored, or taken from another file",
    "way:patch": "a value that is put into a module or a class of a library",
    "way:computed-class": "a class that is made by a call, or of a class that is computed",
    "way:earlier-file": "a call in an earlier file of the student that the exercise forbids",
}
"""Ways to reach a name that a course may call odd, in words."""


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
