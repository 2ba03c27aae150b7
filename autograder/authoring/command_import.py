"""Turn an assignment of nbgrader into an exercise: its solution, its texts, and its asserts as first checks.

It reads the instructor's notebook, and names every cell and assert that has no place in an exercise. Then it runs small
changes of the solution, and says which of them the asserts let pass.
"""

import argparse
import ast
import json
import os
import re
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.answer_key import lacking
from autograder.cli import CommandParser, say, show_count
from autograder.course import (
    BEGIN,
    END,
    Course,
    StubError,
    SuiteError,
    UsageError,
    find_course,
    load_suite,
    make_stub,
    read_course,
    refuse_kit,
    resolve_exercise,
)
from autograder.ending import PASS
from autograder.report import plural
from autograder.runner import GraderProblem

from .command_new import entry_fields, id_of, write_exercise
from .mutants import ExerciseMutants, Options, changed_lines, mutate_each

FORMATS = ("nbgrader",)

MOST_BYTES = 4 << 20
"""The largest notebook that is read: pictures in it are not."""

MOST_SHOWN = 8
MUTANT_SECONDS = 60
LONGEST_KEY = 60
LONGEST_TITLE = 90
OBSERVED = "seen["
CLAIM = re.compile(r"^(?:check|test|tests|checks)( that)? ", re.IGNORECASE)
"""The begin of a title that says no more than that it is one."""

AUTOTEST = re.compile(r"^(\s*)### (?:HASHED )?AUTOTEST (.*)$", re.MULTILINE)
HIDDEN = re.compile(r"^\s*### (?:BEGIN|END) HIDDEN TESTS.*\n?", re.MULTILINE)

COMPARE = {"isclose", "allclose", "assert_equal", "assert_equals", "assert_almost_equal", "assert_allclose"} | {
    *("assert_array_equal", "assert_array_almost_equal", "array_equal", "assertEqual", "assertAlmostEqual"),
}
"""Calls whose first two arguments are compared."""

RAISE = {"raises", "assert_raises", "assertRaises"}

CHECK = """

@check({options})
def test_{id}(impl, given):
{body}
"""


@dataclass
class Imported:
    """What was made of a notebook: lines of the solution, checks, and a sentence for everything that was left out.

    `ids` has the checks of values, with the names of the program that each uses.
    """

    solution: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    points: float = 0.0
    asserts: int = 0
    ids: dict[str, set[str]] = field(default_factory=dict)


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help="nbgrader")
    parser.add_argument("file", type=Path, metavar="FILE", help="the instructor's notebook, with the solutions")
    parser.add_argument("--name", metavar="NAME", help="a name like averages (default: that of the notebook)")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course(), empty=True)
    refuse_kit(course, "import")
    load_suite(course, ())  # which asks whether the folder is trusted, before anything is written
    name = options.name or re.sub(r"\W+", "_", options.file.stem.lower()).strip("_")
    exercise_id = id_of(course, name)
    imported = read_assignment(_cells(options.file), exercise_id[:4], options.file.name)
    title = exercise_id[5:].replace("_", " ")
    texts = {
        course.solutions_dir / f"{exercise_id}.py": "\n".join(imported.solution) + "\n",
        course.checks_dir / f"test_{exercise_id}.py": _checks_text(exercise_id, imported),
    }
    fields = entry_fields(course, exercise_id, title, imported.points or 1)
    for file in write_exercise(course, texts, fields, course.parts[-1] if course.parts else None):
        say(f"{'changed' if file.name == 'course.toml' else 'made'} {file.relative_to(course.root)}")
    for sentence in imported.left:
        say(f"left out: {sentence}")
    checks = plural(len(imported.checks), "check")
    say(f"{plural(imported.asserts, 'assert')} became {checks}, which have the inputs of the notebook.")
    _show_mutants(read_course(course.root), exercise_id)
    number = exercise_id[2:4]
    say(f"Next: `course build {number}` makes the stub, and `course validate {number}` says what a proof still needs.")
    return PASS


# Read a notebook.


def _cells(file: Path) -> list[Mapping[str, Any]]:
    """Return the cells of a notebook. Raises `UsageError` with what is wrong with it."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UsageError(f"{file} has more than {MOST_BYTES >> 20} MiB; clear its outputs, and try again")
        book = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}); give the instructor's notebook") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is no notebook: it has no JSON; give the instructor's notebook") from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise UsageError(f"{file} has no cells of format 4; save it with a newer Jupyter, and try again")
    return cells


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _marks(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return marks if isinstance(marks, dict) else {}


def read_assignment(cells: Sequence[Mapping[str, Any]], number: str, file: str) -> Imported:
    """Return an exercise with this number, like ex05, from the cells of a notebook.

    Raises `UsageError` for one without a solution or without an assert: it is no assignment of an instructor.
    """
    found = Imported()
    program = _Program()
    graded: list[tuple[str, int, Mapping[str, Any], str]] = []
    for at, cell in enumerate(cells, 1):
        marks, source = _marks(cell), _source(cell)
        where = f"cell {at} ({marks['grade_id']})" if marks.get("grade_id") else f"cell {at}"
        if cell.get("cell_type") != "code":
            if marks.get("grade") or marks.get("task"):
                found.left.append(f"{where} is graded by hand")
            if not (marks.get("grade") and marks.get("solution")):  # an answer of the instructor
                found.solution += ["# %% [markdown]", *_commented(source), ""]
        elif marks.get("grade") and not marks.get("solution"):
            graded.append((where, at, marks, source))
        elif BEGIN in source or not marks.get("solution"):
            found.solution += program.cell(source, number, where, found.left)
        else:
            by_hand = "and is graded by hand" if marks.get("grade") else f"with no {BEGIN}"
            found.left.append(f"{where} is a solution {by_hand}: mark what students write, and import it again")
    if not program.written:
        raise UsageError(f"{file} has no {BEGIN}: give the notebook of the instructor, not that of students")
    for where, at, marks, source in graded:
        _add_checks(found, program, where, at, marks, source)
    if not found.checks:
        reasons = f": {'; '.join(found.left)}" if found.left else ""
        raise UsageError(f"{file} has no assert that can be a check{reasons}; write the checks with `course new`")
    return found


def _commented(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.splitlines()]


class _Program:
    """Collects the code of a solution, the names that it defines, and its imports by the names that they bind."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.imports: dict[str, str] = {}
        self.written = False

    def cell(self, source: str, number: str, where: str, left: list[str]) -> list[str]:
        """Return the lines of a code cell; what only shows something becomes text, as a stub could not run it."""
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError):
            left.append(f"{where} is no Python: a program cannot have it")
            return []
        kept = [one for one in body if not isinstance(one, ast.Expr) or isinstance(one.value, ast.Constant)]
        for one in kept:
            self.names |= set(_bound(one))
            if isinstance(one, ast.Import | ast.ImportFrom):
                bound = (name.asname or name.name.partition(".")[0] for name in one.names)
                self.imports |= dict.fromkeys(bound, ast.unparse(one))
        calls = [one for one in kept if not _is_definition(one) and self._uses_a_function(one)]
        if BEGIN not in source and (len(kept) < len(body) or calls):
            return ["# %% [markdown]", *_commented(f"```python\n{source.strip()}\n```"), ""]
        if BEGIN in source:
            self.written = True
            names = ", ".join(one.name for one in kept if isinstance(one, _DEFINED))
            source = re.sub(
                rf"^(\s*){re.escape(BEGIN)}[ \t]*$",
                lambda mark: f"{mark[1]}# TODO {number}: write {names or 'this'}\n{mark[0].rstrip()}",
                source,
                flags=re.MULTILINE,
            )
            source = re.sub(rf"^(\s*{re.escape(END)})[ \t]*$", r"\1", source, flags=re.MULTILINE)
        return ["# %%", *(line.rstrip() for line in source.strip("\n").splitlines()), "", ""]

    def _uses_a_function(self, node: ast.stmt) -> bool:
        return any(isinstance(one, ast.Name) and one.id in self.names for one in ast.walk(node)) and any(
            isinstance(one, ast.Call) for one in ast.walk(node)
        )


_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, (*_DEFINED, ast.Import, ast.ImportFrom))


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines or assigns; none that it imports, since they are no program's."""
    if isinstance(node, _DEFINED):
        yield node.name
    elif not _is_definition(node):
        yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


# Turn the asserts of a cell into checks. A check has no expected value: it returns what the program computes.


class _Unfit(Exception):
    """A statement that has no place in a check; the message is the reason."""


@dataclass
class _Cell:
    """The statements of a cell so far: those that prepare, those that observe, and calls that should raise."""

    names: frozenset[str]
    imports: Mapping[str, str]
    observed: list[str] = field(default_factory=list)
    raising: list[tuple[str, str, list[str]]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    asserts: int = 0


class _OfProgram(ast.NodeTransformer):
    """Reads the names of the program from `impl`."""

    def __init__(self, cell: _Cell) -> None:
        self.cell = cell

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.cell.names:
            return node
        if not isinstance(node.ctx, ast.Load):
            raise _Unfit(f"it changes {node.id}, which belongs to the program")
        self.cell.used.add(node.id)
        return ast.Attribute(ast.Name("impl", ast.Load()), node.id, ast.Load())


def _add_checks(found: Imported, program: _Program, where: str, at: int, marks: Mapping[str, Any], source: str) -> None:
    """Add the checks of a graded cell, or why there are none."""
    try:
        body = ast.parse(HIDDEN.sub("", AUTOTEST.sub(_asserted, source))).body
    except (SyntaxError, ValueError):
        found.left.append(f"{where} is no Python: its asserts became no check")
        return
    title = f"the asserts of cell {at}"
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        title = CLAIM.sub("", " ".join(str(body[0].value.value).split()).rstrip(".")) or title
        body = body[1:]
    cell = _Cell(frozenset(program.names), program.imports)
    for nth, statement in enumerate(body):
        try:
            if unknown := lacking(ast.Module(body[: nth + 1], [])) - program.names - program.imports.keys():
                raise _Unfit(f"it uses {', '.join(sorted(unknown))}, which no cell here defines")
            if lines := _converted(statement, cell, nested=False):
                cell.observed.append("\n".join(lines))
        except _Unfit as reason:
            found.left.append(f"{where}, line {statement.lineno}, `{_short(statement)}`: {reason}")
            if not isinstance(statement, ast.Assert):
                break  # what follows may need it
    _add_made(found, cell, title, _id(marks, at), float(marks.get("points") or 0))
    if not cell.asserts:
        found.left.append(f"{where} has no assert that became a check")


def _asserted(line: re.Match[str]) -> str:
    """Return what nbgrader is to compare with the solution as asserts: a check looks at just that."""
    return "\n".join(f"{line[1]}assert {one.strip()}" for one in line[2].split(";") if one.strip())


def _id(marks: Mapping[str, Any], at: int) -> str:
    id_ = re.sub(r"\W+", "_", str(marks.get("grade_id") or f"cell_{at}").lower()).strip("_")
    return id_ or f"cell_{at}"


def _add_made(found: Imported, cell: _Cell, title: str, id_: str, points: float) -> None:
    """Write the checks of a cell: one for all that it observes, and one for each exception."""
    sees = any(OBSERVED in line for line in cell.observed)
    count = sees + len(cell.raising)
    if not count:
        return
    found.points += points
    found.asserts += cell.asserts
    each = round((points or 1) / count, 2) or 0.01
    while id_ in found.ids:
        id_ = f"{id_}_again"
    of = f', of="{min(cell.used)}"' if len(cell.used) == 1 else ""
    if sees:
        body = "\n".join(["seen = {}", *cell.observed, "return seen"])
        found.ids[id_] = cell.used
        found.checks.append(_check(id_, title, each, of, _with_imports(body, cell)))
    needed = [known for known, used in found.ids.items() if used & cell.used]
    needs = f", requires_any={json.dumps(needed).replace('[', '(').replace(']', ',)')}" if needed else ""
    for nth, (kind, call, before) in enumerate(cell.raising, 1):
        own = f"{id_}_{nth}" if count > 1 else id_
        body = "\n".join([*(text for text in before if OBSERVED not in text), f"return given.raises(lambda: {call})"])
        more = f'{of}, judge=Raises("{kind}"), trials=1{needs}'
        named = f"{title}: {call.replace('impl.', '')}" if count > 1 else title
        found.checks.append(_check(own, named, each, more, _with_imports(body, cell)))


def _with_imports(body: str, cell: _Cell) -> str:
    """Return the body of a check with the imports that it needs: in a notebook another cell has them."""
    needed = [cell.imports[name] for name in sorted(lacking(ast.parse(body))) if name in cell.imports]
    return "\n".join([*dict.fromkeys(needed), body])


def _check(id_: str, title: str, points: float, more: str, body: str) -> str:
    short = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 3]}..."
    quoted = json.dumps(short, ensure_ascii=False)
    options = f"{quoted}, points={points:g}{more}"
    if len(options) > LONGEST_TITLE:
        options = f"\n    {quoted},\n    points={points:g}{more},\n"
    return CHECK.format(options=options, id=id_, body=textwrap.indent(body, "    "))


def _converted(node: ast.stmt, cell: _Cell, *, nested: bool) -> list[str]:
    """Return the lines of a check for one statement. Raises `_Unfit`."""
    if isinstance(node, ast.Assert):
        cell.asserts += 1
        return [_observation(one, cell, nested) for one in _sides(node.test, cell)]
    if (call := _raising(node)) is not None:
        if nested:
            raise _Unfit("an exception in a loop or a function is no check of its own")
        cell.asserts += len(call[1])
        cell.raising += [(call[0], _of_program(one, cell), [*cell.observed]) for one in call[1]]
        return []
    if isinstance(node, ast.Expr):
        name = _called(node.value)
        if name in COMPARE:
            cell.asserts += 1
            return [_observation(one, cell, nested) for one in _sides(node.value, cell)]
        return [] if name == "print" or isinstance(node.value, ast.Constant) else [_of_program(node, cell)]
    if isinstance(node, ast.Delete | ast.Raise | ast.Try | ast.Global):
        raise _Unfit("a check has no such statement")
    if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.FunctionDef):
        inner = [line for one in node.body for line in _converted(one, cell, nested=True)]
        if getattr(node, "orelse", ()):
            raise _Unfit("a check has no else of an assert")
        head = type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]})
        lines = _of_program(ast.copy_location(head, node), cell).splitlines()[:-1]
        return [*lines, *(f"    {line}" for text in inner for line in text.splitlines())]
    return [_of_program(node, cell)]


def _observation(node: ast.expr, cell: _Cell, nested: bool) -> str:
    text = _of_program(node, cell)
    key = ast.unparse(node)
    key = key if len(key) <= LONGEST_KEY else f"{key[: LONGEST_KEY - 3]}..."
    if not nested:
        return f"seen[{json.dumps(key)}] = {text}"
    numbered = key.replace("{", "{{").replace("}", "}}") + ", {len(seen) + 1}"
    return f"seen[f{json.dumps(numbered)}] = {text}"


def _of_program(node: ast.AST, cell: _Cell) -> str:
    copy = ast.parse(ast.unparse(node)) if isinstance(node, ast.stmt) else ast.parse(ast.unparse(node), mode="eval")
    return ast.unparse(ast.fix_missing_locations(_OfProgram(cell).visit(copy)))


def _sides(test: ast.expr, cell: _Cell) -> list[ast.expr]:
    """Return what an assert looks at: the sides of its comparisons that are no constants. Raises `_Unfit`."""
    match test:
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
        case ast.BoolOp(values=values):
            return [side for value in values for side in _sides(value, cell)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _sides(operand, cell)
        case ast.Call(args=[first, second, *_]) if _called(test) in COMPARE:
            sides = [first, second]
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, _]):
            sides = [ast.parse(f"type({ast.unparse(value)}).__name__", mode="eval").body]
        case _:
            sides = [test]
    used = [side for side in sides if any(isinstance(one, ast.Name) for one in ast.walk(side))]
    own = [side for side in used if any(isinstance(one, ast.Name) and one.id in cell.names for one in ast.walk(side))]
    if not used:
        raise _Unfit("it looks at nothing of the program")
    return own or used


def _called(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def _raising(node: ast.stmt) -> tuple[str, list[ast.expr]] | None:
    """Return the exception and the calls of a statement that wants an exception; None for another statement."""
    match node:
        case ast.Try(body=body, handlers=[ast.ExceptHandler(type=ast.Name(id=kind))], orelse=[_, *_], finalbody=[]):
            calls = [one.value for one in body if isinstance(one, ast.Expr)]
            return (kind, calls) if calls and len(calls) == len(body) else None
        case ast.With(items=[ast.withitem(context_expr=ast.Call(args=[ast.Name(id=kind), *_]) as call)], body=body):
            calls = [one.value for one in body if isinstance(one, ast.Expr)]
            return (kind, calls) if _called(call) in RAISE and calls and len(calls) == len(body) else None
        case ast.Expr(value=ast.Call(args=[ast.Name(id=kind), function, *arguments]) as call):
            wanted = ast.Call(function, arguments, call.keywords)
            return (kind, [wanted]) if _called(call) in RAISE else None
    return None


def _short(node: ast.stmt) -> str:
    line = ast.unparse(node).splitlines()[0]
    return line if len(line) <= LONGEST_KEY else f"{line[: LONGEST_KEY - 3]}..."


def _checks_text(exercise_id: str, imported: Imported) -> str:
    words = "Raises, check" if any("judge=Raises" in one for one in imported.checks) else "check"
    head = f'"""{exercise_id[:4]}: the asserts of a notebook, with its inputs: draw others from `given`."""\n'
    return f"{head}\nfrom autograder.checks import {words}\n{''.join(imported.checks)}"


# Say what the asserts let pass.


def _show_mutants(course: Course, exercise_id: str) -> None:
    """Run mutants of the solution for a minute at most, and show those that no check notices."""
    exercise = resolve_exercise(course, exercise_id)
    text = (course.solutions_dir / exercise.file).read_text("utf-8")
    try:
        make_stub(text, exercise)
        suite = load_suite(course, [exercise])
        options = Options(course.seed, os.cpu_count() or 1, until=time.monotonic() + MUTANT_SECONDS)
        [result] = mutate_each(suite, options, on_progress=_show_progress)
    except (StubError, SuiteError, GraderProblem) as error:
        say(f"The checks cannot be tried yet: {error}")
        return
    for sentence in _survivors(result, text):
        say(sentence)


def _show_progress(_: str, done: int, total: int) -> None:
    show_count(f"{done} of {total} mutants", last=done == total)


def _survivors(result: ExerciseMutants, solution: str) -> Iterator[str]:
    """Yield how many small changes of a solution the asserts let pass, and the first of them."""
    let, tried = len(result.survivors), result.mutants - result.left
    left = f", {result.left} not tried" if result.left else ""
    yield f"Of {plural(tried, 'small change')} of the solution, the asserts let {let} pass{left}."
    for survivor in result.survivors[:MOST_SHOWN]:
        was, becomes = changed_lines(solution, survivor.mutant.source)
        yield f"  line {survivor.mutant.line}: {' '.join(' '.join(was).split())}"
        yield f"  becomes: {' '.join(' '.join(becomes).split()) or 'nothing'}"
    if let:
        yield f"`course mutate {result.exercise.number}` shows each, with an input on which it differs if it finds one."
