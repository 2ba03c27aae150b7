"""The functions of a file by its syntax alone: where each begins and ends, and whether it is still a TODO."""

import ast
import builtins
import hashlib
import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from tokenize import detect_encoding
from types import CodeType
from typing import Any, Literal, NamedTuple

from .frames import MOST_NAME, STATEMENT_HASH, SURVEY_FUNCTIONS, SURVEY_STATEMENTS

# Hash the statements of a program: equal code under other names has equal hashes, and no hash reveals the code.

BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_IGNORED = frozenset({"ctx", "type_comment", "annotation", "returns", "kind"})
_BUILT_IN = frozenset(dir(builtins))

_KINDS = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
_CHILD_FIELDS = {kind: [name for name in kind._fields if name != "ctx"] for kind in _KINDS}
BODIES_OF = {
    kind: [name for name in kind._fields if name in BODIES and not issubclass(kind, ast.expr)] for kind in _KINDS
}
"""The fields of each kind of node that hold statements, or nodes that do, in the order of the text."""

_HASHED_FIELDS = {
    kind: [
        name for name in kind._fields if name not in _IGNORED and not (issubclass(kind, ast.stmt) and name in BODIES)
    ]
    for kind in _KINDS
}


class Statement(NamedTuple):
    """A statement, or the head of a compound one: its hash, its first and last line, and the name that it defines.

    `runs` is false for imports and for the heads of functions and classes: what a call computes is not on their lines.
    """

    hash: str
    line: int
    last: int
    runs: bool
    name: str = ""


def statements(tree: ast.Module, nodes: Iterable[ast.AST] | None = None) -> list[Statement]:
    """Return every statement in the order of their lines; docstrings are none.

    Names are replaced by their order in the statement, except built-in names, those the file imports, and those it
    defines at its top level. `nodes` takes the result of `nodes_of` where the caller already has it.
    """
    nodes = nodes if nodes is not None else nodes_of(tree)
    fixed = {*_BUILT_IN, *_global_names(tree, nodes)}
    hashed = []
    for node in nodes:
        if isinstance(node, ast.stmt) and not _is_text(node):
            name = node.name if isinstance(node, _DEFINITIONS) else ""
            runs = not isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom))
            hashed.append(Statement(_hash(node, fixed), node.lineno, _last_line(node), runs, name))
    return sorted(hashed, key=lambda statement: statement.line)[:SURVEY_STATEMENTS]


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _last_line(node: ast.stmt) -> int:
    """Return the last line of a statement; of a compound one that of its head, without the comments below it."""
    if not BODIES_OF[type(node)]:
        return node.end_lineno or node.lineno
    heads = [child for name in _HASHED_FIELDS[type(node)] for child in _children(getattr(node, name, None))]
    parts = [part for head in heads for part in (head, *ast.iter_child_nodes(head))]  # an item of `with` has no lines
    return max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])


def _children(value: object) -> list[ast.AST]:
    return [child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)]


@lru_cache(maxsize=10_000)
def name_hash(name: str) -> str:
    """Return the hash of a name, which does not reveal it."""
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:STATEMENT_HASH]


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return a tree's nodes as `ast.walk` does, without the contexts (Load, Store, Del), which are half of them."""
    nodes = [tree]
    for node in nodes:
        for name in _CHILD_FIELDS[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some nodes bind."""
    bound: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.split(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
    return bound


def _global_names(tree: ast.Module, nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:  # some import in their functions
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    yield from (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _hash(node: ast.stmt, fixed: set[str]) -> str:
    names: dict[str, str] = {}
    text = _canonical(node, fixed, names)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:STATEMENT_HASH]


def _canonical(top: ast.AST, fixed: set[str], names: dict[str, str]) -> str:
    """Return a tree as text. It works without recursion, since a tree may be deeper than Python's stack."""
    done: list[str] = []
    stack: list[ast.AST | str] = [top]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            done.append(node)
        else:
            done.append(f"{type(node).__name__}(")
            parts = _parts(node, fixed, names)
            parts.append(")")
            stack += reversed(parts)
    return "".join(done)


def _parts(node: ast.AST, fixed: set[str], names: dict[str, str]) -> list[ast.AST | str]:
    """Return the child nodes of a node, with the text of its other fields between them."""
    parts: list[ast.AST | str] = []
    for name in _HASHED_FIELDS[type(node)]:
        value: Any = getattr(node, name, None)
        if isinstance(value, ast.AST):
            parts.append(value)
        elif name in ("id", "arg") and isinstance(node, ast.Name | ast.arg) and value not in fixed:
            parts.append(names.setdefault(value, f"#{len(names)},"))
        elif isinstance(value, list):
            parts.append("[")
            parts += [item if isinstance(item, ast.AST) else _constant(item) for item in value]
            parts.append("]")
        else:
            parts.append(_constant(value))
    return parts


def _constant(value: object) -> str:
    """Return a constant as text: an int in hexadecimal, since Python refuses to write very long ones as decimals."""
    return f"{value:#x}," if type(value) is int else f"{value!r},"


# Decode the bytes of a Python file, in one way for every part that compiles, parses or shows it.

_DECLARED = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?")
_CHARSET = re.compile(r"(?:iso-?8859-?|latin-?|cp125|windows-?125|koi8-?)\w{1,2}", re.IGNORECASE)
"""Encodings that map one byte to one character. The judge decodes no others, since some codecs take quadratic time."""

_REMEDY = "save the file as UTF-8 and delete the declaration"

_CONFLICT = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: [^\r\n]*)?$", re.MULTILINE)

CONFLICT = "line {} has a merge conflict marker of git; keep one version, and delete the lines with markers"
"""What to say of a file that cannot be read, and that has such a line."""


def first_conflict(source: bytes) -> int:
    """Return the first line with a marker that git writes into a file which it cannot merge; 0 if there is none."""
    match = _CONFLICT.search(source.replace(b"\r\n", b"\n"))
    return _line(source.replace(b"\r\n", b"\n"), match.start()) if match else 0


def code_of(source: bytes, file: str) -> CodeType:
    """Compile a file, which may `await` anywhere, as the cells of a notebook may. Raises whatever `compile` raises.

    The error of a file with markers of a merge conflict says so.
    """
    text = text_of(source, file)
    try:
        code: CodeType = compile(text, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        return code
    except SyntaxError:
        if line := first_conflict(source):
            raise _refused(CONFLICT.format(line), file, line) from None
        raise


def text_of(source: bytes, file: str = "") -> str:
    """Return the text of a Python file as `python FILE` reads it.

    Raises SyntaxError, with the line, where Python refuses to run the file: for bytes that do not fit the declared
    encoding (UTF-8 by default), null bytes, and unknown encodings. This is stricter than `compile` of bytes and than an
    import, which let wrong bytes in comments pass.
    """
    if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _refused("it is saved as UTF-16, expected UTF-8; save the file as UTF-8", file, 1)
    try:
        encoding, _ = detect_encoding(BytesIO(source).readline)
        text = source.decode(encoding)
        text.encode("utf-8")  # some codecs produce lone surrogates, which no source may hold
        if (_declared(source) or "") not in text[:4096]:
            raise ValueError("a declaration has to be readable in the encoding that it names")
    except UnicodeDecodeError as error:
        raise _undecodable(source, error, file) from None
    except Exception as error:  # the file chooses the codec, and a codec may raise anything
        raise _undetected(source, file) from error
    if "\0" in text:
        line = _line(source, source.find(b"\0"))
        raise _refused(f"line {line} has a null byte; delete it, or save the file as UTF-8", file, line)
    return text


def lines_of(source: bytes) -> list[str]:
    """Return the lines of a file for display, whether or not Python can read it; undecodable bytes become `�`."""
    encoding = _declared(source)
    if encoding is None or not _CHARSET.fullmatch(encoding):
        encoding = "utf-8"
    lines = source.removeprefix(BOM_UTF8).splitlines()
    try:
        return [line.decode(encoding, "replace") for line in lines]
    except LookupError:
        return [line.decode("utf-8", "replace") for line in lines]


def _declared(source: bytes) -> str | None:
    """Return the encoding that one of the first two lines declares (PEP 263), or None."""
    for line in source[:4096].removeprefix(BOM_UTF8).splitlines()[:2]:
        if match := _DECLARED.match(line):
            return match[1].decode("ascii")[:20]
        if not _BLANK.fullmatch(line):
            return None
    return None


def _undetected(source: bytes, file: str) -> SyntaxError:
    """Return the error for a declaration Python cannot follow, or for bytes before it that are not UTF-8."""
    declared = _declared(source)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        if declared is None:
            return _undecodable(source, error, file)
    return _refused(f"it declares the encoding {declared}, which Python cannot read; {_REMEDY}", file, 1)


def _undecodable(source: bytes, error: UnicodeDecodeError, file: str) -> SyntaxError:
    line, declared = _line(source, error.start), _declared(source)
    byte = f"line {line} has the byte 0x{source[error.start]:02x}"
    if declared is None:
        return _refused(f"{byte}, which is not UTF-8; save the file as UTF-8", file, line)
    return _refused(f"{byte}, which is not in the declared encoding {declared}; {_REMEDY}", file, line)


def _refused(message: str, file: str, line: int) -> SyntaxError:
    return SyntaxError(message, (file, line, None, None))


def _line(source: bytes, offset: int) -> int:
    """Return the line of a byte, as Python counts lines; 1 for an offset of -1 (a character only decoding made)."""
    before = source[: max(offset, 0)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1


class Function(NamedTuple):
    """A function of a file, or a method as `Class.method`: its lines, the first one of its body, and of its TODO.

    `todo` is the line of the `raise NotImplementedError` that ends the function, 0 without one.
    """

    name: str
    line: int
    body: int
    end: int
    todo: int


class Refusal(NamedTuple):
    """Why a check refuses a program: a sentence for the student, and what it is about as data.

    `lacks` says what the file or class `owner` does not have under `name`: a function or class (a definition), a part
    of an object, a parameter, or its `shape`. A class lacks the `base` nn.Module, a list of modules the `registration`.
    `near` is a name that is there and may be meant. "" stands for what is unknown.
    """

    sentence: str
    lacks: Literal["", "definition", "attribute", "method", "parameter", "shape", "base", "registration"] = ""
    owner: str = ""
    name: str = ""
    near: str = ""


class Outline(NamedTuple):
    """The functions of a file, and the hash and the line of each of its statements."""

    functions: tuple[Function, ...]
    statements: tuple[tuple[str, int], ...]


def functions(tree: ast.Module) -> list[Function]:
    """Return the functions at the top level of a file, and the methods of its classes."""
    found = [_function(name, node) for name, node in function_definitions(tree) if len(name) <= MOST_NAME]
    return found[:SURVEY_FUNCTIONS]


def outline_of(source: str | bytes) -> Outline:
    """Return the outline of a file. Raises whatever `ast.parse` raises."""
    tree = ast.parse(text_of(source) if isinstance(source, bytes) else source)
    hashed = tuple((one.hash, one.line) for one in statements(tree))
    return Outline(tuple(functions(tree)), hashed)


def words_of(tree: ast.Module) -> dict[str, set[str]]:
    """Return the words that each function and class at the top level of a file uses, a class in all its methods.

    A word is a name that is read, an attribute, `raise` or `assert`. It is also a parameter, or an attribute of `self`,
    with what is done to it: `temperature Div`, `mask > softmax`. `self.eps = eps` stores `eps`, and does not use it.
    `unused top_k` says that nothing uses this parameter.
    """
    return {owner: _words(definition) for owner, definition in definitions_of(tree).items()}


def definitions_of(tree: ast.Module) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Return the functions and classes at the top level of a file, by their names."""
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def parameters_of(definition: ast.AST) -> set[str]:
    """Return the parameters of all functions in a function or class."""
    return {node.arg for node in nodes_of(definition) if isinstance(node, ast.arg)} - {"self"}


def _words(definition: ast.FunctionDef | ast.ClassDef) -> set[str]:
    found: set[str] = set()
    stored: set[ast.AST] = set()
    parameters = parameters_of(definition)
    for node in nodes_of(definition):  # from the outside in: an assignment comes before its value
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Name(id=same) as value
            ) if name == same:
                stored.add(value)
            case ast.Name(id=name, ctx=ast.Load()) if node not in stored:
                found.add(name)
            case ast.Attribute(attr=name, ctx=ast.Load()):
                found.add(name)
            case ast.Raise() if not _is_todo(node):
                found.add("raise")
            case ast.Assert():
                found.add("assert")
        for operand, use in _operands(node):
            match operand:
                case ast.Name(id=name) if name in parameters:
                    found.add(f"{name} {use}")
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    found.add(f"{name} {use}")
    unused = {f"{UNUSED}{name}" for name in _own_parameters(definition) if name not in found}
    return found | unused


UNUSED = "unused "
"""Begins a word about a parameter that nothing uses."""


def _own_parameters(definition: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """Yield the named parameters of a function, or of the methods of a class; `_x` is unused on purpose."""
    functions = [definition] if isinstance(definition, ast.FunctionDef) else definition.body
    for function in functions:
        if isinstance(function, ast.FunctionDef):
            given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
            yield from (one.arg for one in given if one.arg not in ("self", "cls") and not one.arg.startswith("_"))


def _operands(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield the operands of an expression, each with what is done to it; a comparison with None is no use."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            yield from ((side, type(op).__name__) for side in (left, right))
        case ast.UnaryOp(operand=operand, op=op):
            yield operand, type(op).__name__
        case ast.Compare(left=left, ops=ops, comparators=others) if not isinstance(ops[0], ast.Is | ast.IsNot):
            yield from ((side, "Compare") for side in (left, *others))
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=given, keywords=named):
            yield from ((value, f"> {called}") for value in (*given, *(keyword.value for keyword in named)))
        case ast.Attribute(value=value, attr=name):
            yield value, f". {name}"
        case ast.Subscript(value=value):
            yield value, "Subscript"
        case ast.If(test=test) | ast.IfExp(test=test):
            modes = (part for part in nodes_of(test) if isinstance(part, ast.Attribute) and part.attr == "training")
            yield from ((mode, "If") for mode in modes)


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def function_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a file by name, and its methods as `Class.method`: of equal methods the last one."""
    for owner in tree.body:
        if isinstance(owner, ast.FunctionDef):
            yield owner.name, owner
        elif isinstance(owner, ast.ClassDef):
            yield from {
                f"{owner.name}.{part.name}": part for part in owner.body if isinstance(part, ast.FunctionDef)
            }.items()


def _function(name: str, node: ast.FunctionDef) -> Function:
    ends = next((part for part in node.body if isinstance(part, ast.Return | ast.Raise)), None)
    todo = ends.lineno if ends is not None and _is_todo(ends) else 0
    return Function(name, node.lineno, _body_line(node.body), node.end_lineno or node.lineno, todo)


def _body_line(body: Sequence[ast.stmt]) -> int:
    """Return the first line of a body, after its docstring."""
    is_text = len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1 if is_text else 0].lineno


def _is_todo(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise):
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


# Show every character of an untrusted text: what could hide, move the cursor or reorder others becomes an escape.

MOST_MARKS = 8
"""Combining marks on one letter that are shown. The languages of the world use fewer; the rest becomes `…`."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
"""Letters, marks and symbols that Python calls printable, or may do so one day, and that fonts show as nothing."""

_STYLES = "\ufe0e\ufe0f"
"""They choose between text and colour for the symbol before them."""


def visible(text: str) -> str:
    """Return a text of which every character can be seen; line ends become escapes too."""
    if text.isascii():
        return text if text.isprintable() else "".join(map(_seen, text))
    seen: list[str] = []
    before, marks = "", 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if character in _STYLES and unicodedata.category(before or "a") in ("So", "Sm", "Po", "Nd"):
            seen.append(character)
        elif marks <= MOST_MARKS or _seen(character) != character:
            seen.append(_seen(character))
        elif marks == MOST_MARKS + 1:
            seen.append("…")
        before = character
    return "".join(seen)


def _seen(character: str) -> str:
    if character.isprintable() and not _INVISIBLE.match(character):
        return character
    if character.isspace() and ord(character) > 0x9F and character not in "\u2028\u2029":
        return " "
    return character.encode("unicode_escape").decode("ascii")
