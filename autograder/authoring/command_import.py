"""Turn an assignment of nbgrader into an exercise: its solution, its texts, and its asserts as first checks.

It reads the instructor's notebook, and names every cell and assert that has no place in an exercise. Then it runs small
changes of the solution, and says which of them the asserts let pass.
"""

import argparse
import ast
import builtins
import json
import math
import os
import re
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from symtable import SymbolTable, symtable
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
    shortened,
)
from autograder.edits import name_of
from autograder.ending import PASS
from autograder.report import plural
from autograder.runner import GraderProblem

from .command_new import entry_fields, id_of, write_exercise
from .mutants import ExerciseMutants, Options, changed_lines, mutate_each
from .naming import imports_of

FORMATS = ("nbgrader",)

MOST_BYTES = 4 << 20
"""The largest notebook that is read: pictures in it are not."""

MOST_SHOWN = 8
MUTANT_SECONDS = 60
LONGEST_KEY = 60
LONGEST_TITLE = 90
OBSERVED = "seen["
CLAIM = re.compile(r"^(?:check|test|tests|checks)( that| whether| if)? ", re.IGNORECASE)
"""The begin of a title that says no more than that it is one."""

MARK = re.compile(r"^([ \t]*).*\b(BEGIN|END) SOLUTION\b.*$", re.MULTILINE)
"""A mark of a region, as nbgrader recognises it."""

AUTOTEST = re.compile(r"^(\s*)#+ *(?:HASHED )?AUTOTEST (.*)$", re.MULTILINE)
MAGIC = re.compile(r"^[ \t]*(?:[%!].*|[\w.]+\?+[ \t]*)$", re.MULTILINE)
"""A line for IPython: a command such as `%matplotlib inline`, or a question such as `len?`."""

FOREIGN = re.compile(r"\s*%%(?!time|capture|prun)")
"""The begin of a cell in another language, such as `%%bash`."""

COMPARE = {"isclose", "allclose", "assert_equal", "assert_equals", "assert_almost_equal", "assert_allclose"} | {
    *("assert_array_equal", "assert_array_almost_equal", "array_equal", "assertEqual", "assertAlmostEqual"),
}
"""Calls whose first two arguments are compared."""

ARRAYS = re.compile("array|allclose")
"""The name of such a call for which a list is as good as an array, and a whole number as a real one."""

CLOSE = 1e-6
"""The tolerance of `Same` for reals. An assert that allows more is observed as True or False."""

TOLERANCES = {"rtol", "atol", "rel_tol", "abs_tol", "rel", "abs", "delta"}
DIGITS = {"decimal", "places"}
SAME = {"assert_equal", "assert_equals", "assertEqual"}
"""Those which compare by ==, unless they are of NumPy."""

IN_PLACE = {"fill_diagonal", "shuffle", "heapify", "heappush", "heappop", "insort", "copyto", "put", "place"}
"""Functions that change their first argument."""

RAISE = {"raises", "assert_raises", "assertRaises"}

HOLDS = '''

def holds(assertion):
    """Return whether an assertion of the notebook holds."""
    try:
        assertion()
    except AssertionError:
        return False
    return True
'''

CHECK = """

@check({options})
def test_{id}(impl, given):
{body}
"""


@dataclass
class Imported:
    """What was made of a notebook: lines of the solution, checks, and a sentence for everything that was left out.

    `notes` are sentences about what was changed. `ids` has the checks of values, with the names of the program that
    each uses. `taken` has all ids and titles.
    """

    solution: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    points: float = 0.0
    asserts: int = 0
    ids: dict[str, set[str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)


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
    libraries = _libraries("\n".join(texts.values()), course.libraries)
    fields = entry_fields(course, exercise_id, title, imported.points or 1, libraries)
    for file in write_exercise(course, texts, fields, course.parts[-1] if course.parts else None):
        say(f"{'changed' if file.name == 'course.toml' else 'made'} {file.relative_to(course.root)}")
    for sentence in imported.left:
        say(f"left out: {sentence}")
    for sentence in imported.notes:
        say(sentence)
    if libraries:
        say(f"It needs {', '.join(libraries)}, which its entry in course.toml now lists.")
        say(f"Add {json.dumps(libraries)[1:-1]} to `usual` of [flags] too, or each program gets a flag.")
    checks = plural(len(imported.checks), "check")
    say(f"{plural(imported.asserts, 'assert')} became {checks}, with the inputs of the notebook.")
    _show_mutants(read_course(course.root), exercise_id)
    number = exercise_id[2:4]
    say(f"Next: `course build {number}` makes the stub, and `course validate {number}` says what a proof still needs.")
    return PASS


def _libraries(text: str, known: Sequence[str]) -> list[str]:
    """Return the modules that some code imports, beside those of Python and the known ones."""
    own = {*known, *sys.stdlib_module_names, "autograder"}
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return sorted(found - own)


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
    program = _Program(number)
    code: list[tuple[str, int, Mapping[str, Any], str]] = []
    for at, cell in enumerate(cells, 1):
        marks, source = _marks(cell), _source(cell)
        where = f"cell {at} ({marks['grade_id']})" if marks.get("grade_id") else f"cell {at}"
        if cell.get("cell_type") != "code":
            if marks.get("grade") or marks.get("task"):
                found.left.append(f"{where} is graded by hand")
            if not (marks.get("grade") and marks.get("solution")):  # an answer of the instructor
                found.solution += ["# %% [markdown]", *_commented(source), ""]
            continue
        source = _python(source, where, found.left)
        tests = marks.get("grade") and not marks.get("solution")
        if marks.get("solution") and not MARK.search(source):
            if marks.get("grade"):
                found.left.append(f"{where} is a solution and is graded by hand: mark what students write")
                continue
            if "NotImplementedError" in source:
                found.left.append(f"{where} is a stub without an answer")
                continue
            source = _marked(source)
            found.notes.append(f"{where} has no {BEGIN}, so students write all of it.")
        elif marks.get("solution") and marks.get("grade"):
            found.left.append(f"{where} is graded by hand: the exercise has its solution, and not its points")
        if not tests:
            found.solution += program.cell(source, where, found.left)
        if not tests and re.search(f"^{BEGIN}$", source, re.MULTILINE):
            found.notes.append(
                f"{where} has answers outside of functions, where a stub has no mark of them: move them into one."
            )
        code.append((where, at, marks if tests else {}, source))
    if not program.written:
        raise UsageError(f"{file} has no {BEGIN}: give the notebook of the instructor, not that of students")
    state = _State(program)
    for where, at, marks, source in code:
        if marks:
            _add_checks(found, state, where, at, marks, source)
        else:
            state.pass_cell(source)
    if not found.checks:
        reasons = f": {'; '.join(found.left)}" if found.left else ""
        raise UsageError(f"{file} has no assert that can be a check{reasons}; write the checks with `course new`")
    return found


def _commented(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.splitlines()]


def _python(source: str, where: str, left: list[str]) -> str:
    """Return the source of a cell with the marks of this course, and without the lines that only IPython reads."""
    source = MARK.sub(r"\1### \2 SOLUTION", source)
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        if not FOREIGN.match(source):
            left += [f"{where}, `{line[0].strip()}`: only IPython reads that" for line in MAGIC.finditer(source)]
            return MAGIC.sub("", source)
    return source


def _body(source: str) -> list[ast.stmt]:
    """Return the statements of a cell. Raises `SyntaxError` or `ValueError` for one that Python cannot run."""
    compile(source, "cell", "exec")
    return ast.parse(source).body


def _marked(source: str) -> str:
    """Return a cell with a region in each function, below its docstring; or all of it as a region, if it has none."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return source
    lines = source.splitlines()
    every = [*body, *(inner for one in body if isinstance(one, ast.ClassDef) for inner in one.body)]
    functions = [one for one in every if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in sorted(functions, key=lambda one: -one.lineno):
        own = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not own or own[0].lineno == function.lineno:
            continue
        indent = " " * own[0].col_offset
        lines.insert(own[-1].end_lineno or own[-1].lineno, f"{indent}{END}")
        lines.insert(own[0].lineno - 1, f"{indent}{BEGIN}")
    return "\n".join(lines if BEGIN in "\n".join(lines) else [BEGIN, *lines, END])


def _names(node: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement binds in its own scope, without imports, and those that it reads."""
    table = symtable(ast.unparse(node), "cell", "exec")
    symbols = [one for one in table.get_symbols() if not one.is_imported()]
    bound = {one.get_name() for one in symbols if one.is_assigned() or one.is_namespace()}
    read = {one.get_name() for one in symbols if one.is_referenced()} | _read_inside(table)
    return bound, read - vars(builtins).keys()


def _needed(node: ast.stmt) -> set[str]:
    """Return the names that a statement needs: those that it reads before it binds them itself."""
    bound, read = _names(node)
    if isinstance(node, ast.AugAssign):
        return read | bound
    if not isinstance(node, ast.For | ast.With):
        return read
    head = [node.iter] if isinstance(node, ast.For) else [one.context_expr for one in node.items]
    targets = [node.target] if isinstance(node, ast.For) else [one.optional_vars for one in node.items]
    found = {name for one in head for name in _needed(ast.Expr(one))}
    own = {one.id for target in targets if target for one in ast.walk(target) if isinstance(one, ast.Name)}
    for one in node.body:
        found |= _needed(one) - own
        own |= set() if isinstance(one, ast.If | ast.While | ast.Try) else _names(one)[0]
    return found


def _read_inside(table: SymbolTable) -> set[str]:
    """Return the names of a module that its functions, classes and comprehensions read."""
    read = set()
    for inner in table.get_children():
        read |= {one.get_name() for one in inner.get_symbols() if one.is_global() and one.is_referenced()}
        read |= _read_inside(inner)
    return read


class _Program:
    """Collects the code of a solution, the names that it defines, and its imports by the names that they bind.

    `functions` are functions and classes, `answers` all that the cells bind in which students write, `values` what the
    other cells bind. A stub has no value of `absent`.
    """

    def __init__(self, number: str) -> None:
        self.number = number
        self.functions: set[str] = set()
        self.answers: set[str] = set()
        self.values: set[str] = set()
        self.absent: set[str] = set()
        self.imports: dict[str, str] = {}
        self.written = False

    def cell(self, source: str, where: str, left: list[str]) -> list[str]:
        """Return the lines of a code cell; what only shows something becomes text, as a stub could not run it."""
        try:
            body = _body(source)
        except (SyntaxError, ValueError):
            left.append(f"{where} is no Python: a program cannot have it")
            return []
        if BEGIN in source:
            return self._answer(source, body)
        lines, shown, kept = source.splitlines(), list[int](), set[int]()
        for one in body:
            span = range(one.lineno - 1, one.end_lineno or one.lineno)
            if isinstance(one, _DEFINED):
                self.functions.add(one.name)
            if self._is_kept(one):
                self.imports.update(imports_of(one))
                self.values |= _names(one)[0]
                self.absent -= _names(one)[0]
                kept.update(span)
            else:
                self.absent |= _names(one)[0]
                shown += span
        block = "\n".join(lines[at] for at in dict.fromkeys(shown)) if kept else source.strip()
        for at in {*shown} - kept:
            lines[at] = ""
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
        code = ["# %%", *(line.rstrip() for line in text.splitlines()), "", ""]
        if not shown:
            return code
        return [*(code if kept else []), "# %% [markdown]", *_commented(f"```python\n{block}\n```"), ""]

    def _answer(self, source: str, body: Sequence[ast.stmt]) -> list[str]:
        self.written = True
        names = ", ".join(one.name for one in body if isinstance(one, _DEFINED))
        for one in body:
            self.answers |= _names(one)[0]
            self.imports.update(imports_of(one))
        self.functions.update(one.name for one in body if isinstance(one, _DEFINED))
        self.absent |= self.answers
        lines = source.splitlines()
        for at in [at for at, line in enumerate(lines) if line.strip() == BEGIN]:
            for one in body:  # a loop is of no use without what is in it
                if not isinstance(one, _DEFINED) and one.lineno <= at < (one.end_lineno or 0):
                    del lines[at]
                    lines.insert(one.lineno - 1, BEGIN)
        source = "\n".join(lines)
        source = re.sub(
            rf"^([ \t]*){re.escape(BEGIN)}$",
            lambda mark: f"{mark[1]}# TODO {self.number}: write {names or 'this'}\n{mark[0]}",
            source,
            flags=re.MULTILINE,
        )
        return ["# %%", *(line.rstrip() for line in source.strip("\n").splitlines()), "", ""]

    def _is_kept(self, node: ast.stmt) -> bool:
        """Return whether a stub can run a statement, with what is above it, and whether what follows may need it."""
        if isinstance(node, _DEFINED):
            return True
        if isinstance(node, ast.Expr):
            called = node.value.func if isinstance(node.value, ast.Call) else None
            roots = {*_roots(called)} if isinstance(called, ast.Attribute) else {""}
            # A call of these libraries that gives nothing changes what it gets, or what is drawn next.
            changes = any(re.search(r"\b(numpy|random)\b", self.imports.get(root, "")) for root in roots)
            changes |= not roots <= {*self.imports, ""}
            if not changes and not isinstance(node.value, ast.Constant):
                return False
        known = self.functions | self.answers | self.values | self.imports.keys()
        read = _needed(node)
        return not read & self.absent and (read <= known or "*" in self.imports)


_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _roots(node: ast.expr) -> Iterator[str]:
    """Yield the name at the root of an attribute or an item, "" for another expression."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    yield node.id if isinstance(node, ast.Name) else ""


def _changed(node: ast.stmt) -> set[str]:
    """Return the names whose values a statement changes in place: `a[0] = 1`, `a.x = 1`, `a.append(1)`."""
    found = set[str]()
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load):
            found.update(_roots(one))
        elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            func = one.value.func
            changed = one.value.args[:1] if _called(one.value) in IN_PLACE else [func] * isinstance(func, ast.Attribute)
            found.update(name for value in changed for name in _roots(value))
    return found - {""}


def _passed(node: ast.stmt, functions: Set[str]) -> set[str]:
    """Return the names that a statement passes to one of these functions."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and functions & {*_roots(one.func)}]
    values = [value for one in calls for value in (*one.args, *(more.value for more in one.keywords))]
    return {name for value in values for name in _roots(value)} - {""}


# Turn the asserts of a cell into checks. A check has no expected value: it returns what the program computes.


class _Unfit(Exception):
    """A statement that has no place in a check; the message is the reason."""


@dataclass
class _Step:
    """A statement of the notebook that is no part of the program: what it binds, changes and needs, and its text."""

    bound: set[str]
    changed: set[str]
    needed: set[str]
    text: str


class _State:
    """The state of the notebook before a cell of asserts.

    `own` are the names that a check binds itself, by `steps`: those of the cells in which nobody writes. `computed` are
    those of them whose value comes from the program, `passed` those that a function of the program may have changed.
    `kept` are names of such cells that no step can bind, `asserting` functions of asserts.
    """

    def __init__(self, program: _Program) -> None:
        self.program = program
        self.imports = dict(program.imports)
        self.own: set[str] = set()
        self.kept: set[str] = set()
        self.asserting: set[str] = set()
        self.computed: set[str] = set()
        self.passed: set[str] = set()
        self.steps: list[_Step] = []

    @property
    def of_program(self) -> set[str]:
        """The names that a check reads from the program."""
        return (self.program.functions | self.program.answers | self.kept) - self.own

    def pass_cell(self, source: str) -> None:
        """Take over what a cell without asserts binds; a cell of answers binds it in the program."""
        try:
            body = _body(source)
        except (SyntaxError, ValueError):
            return
        cell = _Cell(self, "", [])
        for one in body:
            if BEGIN in source:
                self.own -= _names(one)[0]
            elif not isinstance(one, (*_DEFINED, ast.Import, ast.ImportFrom)) and (_names(one)[0] or _changed(one)):
                try:
                    cell.add(one)
                except _Unfit:
                    self.kept |= _names(one)[0] & self.program.values

    def keep(self, node: ast.stmt, text: str) -> None:
        """Add a statement that a later one may need."""
        bound, read = _names(node)
        passed = _passed(node, self.of_program)
        changed = _changed(node) | (passed if isinstance(node, ast.Expr) else set())
        changed -= self.imports.keys()
        self.passed = self.passed - bound | passed
        if OBSERVED in text:  # which has gone through its statements
            pass
        elif (read | changed) & (self.of_program | self.computed):
            self.computed |= bound | changed & self.own
        else:
            self.computed -= bound
        self.own |= bound
        if bound | changed and (OBSERVED not in text or isinstance(node, ast.FunctionDef)):
            self.steps.append(_Step(bound, changed, _needed(node), text))

    def before(self, needed: set[str], until: int) -> list[str]:
        """Return the texts of the first so many steps that bind or change what is needed, in their order."""
        texts, needed = [], set(needed)
        for step in reversed(self.steps[:until]):
            if (step.bound | step.changed) & needed:
                needed = needed - step.bound | step.changed | step.needed
                texts.append(step.text)
        return texts[::-1]


class _Cell:
    """The statements of a cell so far: those that prepare, those that observe, and calls that should raise."""

    def __init__(self, state: _State, where: str, left: list[str]) -> None:
        self.state, self.where, self.left = state, where, left
        self.begin = len(state.steps)
        self.earlier = set(state.own)
        self.observed: list[str] = []
        self.raising: list[tuple[list[str], str, list[str]]] = []
        self.used: set[str] = set()
        self.needed: set[str] = set()
        self.asserts = 0
        self.sees = False

    def add(self, node: ast.stmt) -> None:
        """Add a statement. Raises `_Unfit`."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.state.imports.update(imports_of(node))
            return
        if isinstance(node, ast.Expr) and _shows(node):
            return
        bound, read = _names(node)
        state = self.state
        if changed := sorted(bound & state.of_program & state.program.functions):
            raise _Unfit(f"it changes {', '.join(changed)}, which belongs to the program")
        if changed := sorted(_changed_modules(node) & state.imports.keys()):
            raise _Unfit(f"it changes {', '.join(changed)}, which other checks use")
        known = state.own | state.of_program | state.imports.keys() | bound
        if unknown := sorted(read - known):
            raise _Unfit(f"it uses {', '.join(unknown)}, which no cell here defines")
        lines = []
        for name in sorted(bound & state.of_program):  # the cell has its own from here on
            if name in _needed(node):
                lines.append(f"{name} = impl.{name}")
                self.used.add(name)
                state.computed.add(name)
            state.own.add(name)
        self.needed |= _needed(node) & self.earlier
        asserts = self.asserts
        lines += _converted(node, self, nested=False)
        if isinstance(node, ast.FunctionDef):  # its asserts look at what a call computes
            state.asserting |= {node.name} if OBSERVED in "".join(lines) else set()
            self.asserts = asserts
        elif read & state.asserting or OBSERVED in "".join(lines):
            self.sees = True
            self.asserts = max(self.asserts, asserts + 1)
        if lines:
            self.observed.append("\n".join(lines))
        state.keep(node, "\n".join(lines))
        self.earlier -= bound


def _changed_modules(node: ast.stmt) -> set[str]:
    return {
        root
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)
        for root in _roots(one)
    }


class _OfProgram(ast.NodeTransformer):
    """Reads the names of the program from `impl`."""

    def __init__(self, cell: _Cell) -> None:
        self.cell = cell
        self.names = cell.state.of_program

    def visit(self, node: ast.AST) -> Any:
        """Change a node; the names that a function or a comprehension binds are its own."""
        if not isinstance(node, (ast.Lambda, *_DEFINED, *_COMPREHENSIONS)):
            return super().visit(node)
        outer = self.names
        inner = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        inner |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        self.names = outer - inner
        changed = self.generic_visit(node)
        self.names = outer
        return changed

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        if not isinstance(node.ctx, ast.Load):
            raise _Unfit(f"it changes {node.id}, which belongs to the program")
        self.cell.used.add(node.id)
        return ast.Attribute(ast.Name("impl", ast.Load()), node.id, ast.Load())


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _add_checks(found: Imported, state: _State, where: str, at: int, marks: Mapping[str, Any], source: str) -> None:
    """Add the checks of a graded cell, or why there are none."""
    try:
        body = _body(AUTOTEST.sub(_asserted, source))
    except (SyntaxError, ValueError):
        found.left.append(f"{where} is no Python: its asserts became no check")
        return
    title = f"the asserts of cell {at}"
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        title = CLAIM.sub("", " ".join(str(body[0].value.value).split()).rstrip(".")) or title
        body = body[1:]
    cell = _Cell(state, where, found.left)
    for nth, statement in enumerate(body, 1):
        try:
            cell.add(statement)
        except _Unfit as reason:
            below = sum(map(_asserts, body[nth:])) if not _is_assertion(statement) else 0
            after = (
                f", and what follows may need it: no check has the {plural(below, 'assert')} below it" if below else ""
            )
            found.left.append(f"{where}, line {statement.lineno}, `{_short(statement)}`: {reason}{after}")
            if not _is_assertion(statement):
                break
    points = float(marks.get("points") or 0)
    _add_made(found, cell, title, _id(marks, at), points)
    if not cell.asserts:
        lost = f": its points ({points:g}) are left out too" if points else ""
        found.left.append(f"{where} has no assert that became a check{lost}")


def _asserted(line: re.Match[str]) -> str:
    """Return what nbgrader is to compare with the solution as asserts: a check looks at just that."""
    return line[1] + "; ".join(f"assert ({one.strip()}) == ..." for one in line[2].split(";") if one.strip())


def _id(marks: Mapping[str, Any], at: int) -> str:
    id_ = re.sub(r"\W+", "_", str(marks.get("grade_id") or f"cell_{at}").lower()).strip("_")
    return id_ or f"cell_{at}"


def _add_made(found: Imported, cell: _Cell, title: str, id_: str, points: float) -> None:
    """Write the checks of a cell: one for all that it observes, and one for each exception."""
    count = cell.sees + len(cell.raising)
    if not count:
        return
    found.points += points
    found.asserts += cell.asserts
    each = round((points or 1) / count, 4)
    id_ = _untaken(found, id_, "_again")
    of = f', of="{min(cell.used)}"' if len(cell.used) == 1 else ""
    before = cell.state.before(cell.needed, cell.begin)
    if cell.sees:
        body = "\n".join(["seen = {}", *before, *cell.observed, "return seen"])
        found.ids[id_] = cell.used
        found.checks.append(_check(found, id_, title, each, of, _with_imports(body, cell)))
    needed = [known for known, used in found.ids.items() if used & cell.used]
    needs = f", requires_any={json.dumps(needed).replace('[', '(').replace(']', ',)')}" if needed else ""
    for nth, (kinds, call, prepared) in enumerate(cell.raising, 1):
        own = _untaken(found, f"{id_}_{nth}", "_again") if count > 1 else id_
        prepared = [text for text in prepared if OBSERVED not in text]
        body = "\n".join([*before, *prepared, f"return given.raises(lambda: {call})"])
        types = json.dumps(kinds[0] if len(kinds) == 1 else kinds)
        more = f"{of}, judge=Raises({types}), trials=1{needs}"
        named = f"{title}: {call.replace('impl.', '')}" if count > 1 else title
        found.checks.append(_check(found, own, named, each, more, _with_imports(body, cell)))


def _untaken(found: Imported, text: str, more: str) -> str:
    """Return a text that no check has as its id or title yet."""
    while text in found.taken:
        text += more
    found.taken.add(text)
    return text


def _with_imports(body: str, cell: _Cell) -> str:
    """Return the body of a check with the imports that it needs: in a notebook another cell has them."""
    imports = cell.state.imports
    needed = [imports[name] for name in sorted(lacking(ast.parse(body))) if name in imports]
    return "\n".join([*dict.fromkeys(needed), body])


def _check(found: Imported, id_: str, title: str, points: float, more: str, body: str) -> str:
    quoted = json.dumps(_untaken(found, shortened(title, LONGEST_TITLE), " again"), ensure_ascii=False)
    options = f"{quoted}, points={points:g}{more}"
    if len(options) > LONGEST_TITLE:
        options = f"\n    {quoted},\n    points={points:g}{more},\n"
    return CHECK.format(options=options, id=id_, body=textwrap.indent(body, "    "))


def _is_assertion(node: ast.AST) -> bool:
    """Return whether a statement only asserts: by `assert`, or by a call such as `assert_equal(a, b)`."""
    if isinstance(node, ast.Expr):
        name = _called(node.value)
        return name in COMPARE or (name.lower().startswith("assert") and name not in RAISE)
    return isinstance(node, ast.Assert)


def _shows(node: ast.Expr) -> bool:
    return not isinstance(node.value, ast.Call) or _called(node.value) in {"print", "display"}


def _asserts(node: ast.AST) -> int:
    """Return how many asserts a statement has."""
    raising = _raising(node) if isinstance(node, ast.stmt) else None
    return len(raising[1]) if raising else sum(_is_assertion(one) or _raises(one) for one in ast.walk(node))


def _raises(node: ast.AST) -> bool:
    """Return whether a node calls what wants an exception."""
    return isinstance(node, ast.Call) and _called(node) in RAISE


def _converted(node: ast.stmt, cell: _Cell, *, nested: bool) -> list[str]:
    """Return the lines of a check for one statement. Raises `_Unfit`."""
    if (call := _raising(node)) is not None and not nested:
        cell.asserts += len(call[1])
        cell.raising += [(call[0], _of_program(one, cell), [*cell.observed]) for one in call[1]]
        return []
    if isinstance(node, ast.Assert | ast.Expr) and _is_assertion(node):
        try:
            lines = [_observation(*one, cell, nested) for one in _observed(node, cell)]
        except _Unfit as reason:
            if not nested:
                raise
            cell.left.append(f"{cell.where}, `{_short(node)}` in a loop or a function: {reason}")
            return ["pass"]
        cell.asserts += 1
        return lines
    if any(map(_raises, ast.walk(node))):
        raise _Unfit("an exception is a check of its own only for one call, outside of loops and functions")
    if isinstance(node, ast.Expr):
        return ["pass"] if _shows(node) else [_of_program(node, cell)]
    inside = [node] if isinstance(node, _DEFINED) else ast.walk(node)
    if any(isinstance(one, ast.Delete | ast.Raise | ast.Try | ast.Global) for one in inside):
        raise _Unfit("a check has no such statement")
    if not any(map(_is_assertion, ast.walk(node))):
        return [_of_program(node, cell)]
    if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.FunctionDef):
        if getattr(node, "orelse", ()):
            raise _Unfit("a check has no else of an assert")
        state = cell.state
        before = {*state.own}, {*state.computed}
        if isinstance(node, ast.FunctionDef):  # its arguments hide the names of the program
            state.own |= {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        _mark_computed(node, state)
        inner = []
        for one in node.body:
            inner += _converted(one, cell, nested=True)
            _mark_computed(one, state)
        if isinstance(node, ast.FunctionDef):
            state.own, state.computed = before
        head = type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]})
        lines = _of_program(ast.copy_location(head, node), cell).splitlines()[:-1]
        return [*lines, *(f"    {line}" for text in inner for line in text.splitlines())]
    return [_of_program(node, cell)]


def _mark_computed(node: ast.stmt, state: _State) -> None:
    """Note the names that get a value of the program in a loop, a condition or a function."""
    names = state.of_program | state.computed
    if isinstance(node, ast.FunctionDef):
        state.computed |= {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    elif isinstance(node, ast.For):
        if names & _read(node.iter):
            state.computed |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    elif not isinstance(node, ast.If | ast.While):
        state.passed |= _passed(node, state.of_program)
        if names & _read(node):
            state.computed |= _names(node)[0] | _changed(node)
        else:
            state.computed -= _names(node)[0]


def _read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _observation(node: ast.expr, text: str, cell: _Cell, nested: bool) -> str:
    key = shortened(ast.unparse(node), LONGEST_KEY)
    if not nested:
        before = "\n".join(cell.observed).count(f"seen[{json.dumps(key, ensure_ascii=False)[:-1]}")
        quoted = json.dumps(f"{key}, {before + 1}" if before else key, ensure_ascii=False)
        return f"seen[{quoted}] = {text}"
    numbered = key.replace("{", "{{").replace("}", "}}") + ", {len(seen) + 1}"
    return f"seen[f{json.dumps(numbered, ensure_ascii=False)}] = {text}"


def _of_program(node: ast.AST, cell: _Cell) -> str:
    copy = ast.parse(ast.unparse(node)) if isinstance(node, ast.stmt) else ast.parse(ast.unparse(node), mode="eval")
    return ast.unparse(ast.fix_missing_locations(_OfProgram(cell).visit(copy)))


def _observed(node: ast.Assert | ast.Expr, cell: _Cell) -> Iterator[tuple[ast.expr, str]]:
    """Yield what an assert looks at, with its text in a check. Raises `_Unfit`.

    The value that should equal a known one is returned itself. Of everything else a program may compute many right
    values, such as the number of its steps: so the check returns whether the assert holds.
    """
    match node:
        case ast.Assert(test=test):
            pass
        case ast.Expr(value=ast.Call(func=func, args=[left, right, *_]) as test) if _called(test) in SAME:
            if "numpy" not in cell.state.imports.get(next(_roots(func)), ""):  # it compares by ==
                test = ast.Compare(left, [ast.Eq()], [right])
                node = ast.Assert(test)
        case _:
            test = node.value
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _observed(ast.Assert(value), cell)
        return
    names = cell.state.of_program | cell.state.computed
    if not names & _read(test):
        names = cell.state.passed
    if not names & _read(test):
        raise _Unfit("it looks at nothing of the program")
    sides = _sides(test) if _tolerance(test) <= CLOSE and not any(map(_is_opaque, ast.walk(test))) else ()
    own = [side for side in sides if names & _read(side)]
    if len(own) == 1:
        text = _as_array(_of_program(own[0], cell), _called(test), cell)
        yield own[0], f"str({text})" if isinstance(own[0], ast.Attribute) and own[0].attr == "dtype" else text
    elif isinstance(node, ast.Assert):
        yield test, f"bool({_of_program(test, cell)})"
    else:
        yield test, f"holds(lambda: {_of_program(test, cell)})"


def _is_opaque(node: ast.AST) -> bool:
    """Return whether a node is a set or a type, which a check cannot return."""
    return isinstance(node, ast.Set | ast.SetComp) or (isinstance(node, ast.Call) and _called(node) in {"set", "type"})


def _sides(test: ast.expr) -> list[ast.expr]:
    """Return the two sides of a test for equality; none of another one."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return [left, right]
        case ast.Compare(
            left=ast.Call(args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]) as call,
            ops=[ast.Lt() | ast.LtE()],
            comparators=[ast.Constant()],
        ) if _called(call) in {"abs", "fabs"}:
            return [left, right]
        case ast.Call(args=[first, second, *_]) if _called(test) in COMPARE:
            return [first, second]
    return []


def _tolerance(test: ast.expr) -> float:
    """Return the largest difference that a test for equality says it allows; 0 if it says none."""
    found = [0.0]
    for one in ast.walk(test):
        match one:
            case ast.keyword(arg=str(name), value=value) if name in TOLERANCES | DIGITS:
                stated = _number(value)
                found.append(10.0**-stated if name in DIGITS else stated)
            case ast.Call(args=[_, _, digits, *_]) if "almost" in _called(one).lower():
                found.append(10.0 ** -_number(digits))
            case ast.Compare(left=ast.Call(), ops=[ast.Lt() | ast.LtE()], comparators=[limit]):
                found.append(_number(limit))
    return max(found)


def _number(node: ast.expr) -> float:
    try:
        return float(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError):
        return math.inf


def _as_array(text: str, called: str, cell: _Cell) -> str:
    """Return a value as an assert about arrays reads it: a list is as good, and a whole number as a real one."""
    numpy = [name for name, line in cell.state.imports.items() if line.startswith("import numpy")]
    if not numpy or not ARRAYS.search(called):
        return text
    array = f"{numpy[0]}.asarray({text})"
    return f"1.0 * {array}" if "array_equal" not in called else array


def _called(node: ast.expr) -> str:
    return name_of(node.func) if isinstance(node, ast.Call) else ""


def _raising(node: ast.stmt) -> tuple[list[str], list[ast.expr]] | None:
    """Return the exceptions and the calls of a statement that wants an exception; None for another statement."""
    match node:
        case ast.Try(body=body, handlers=[ast.ExceptHandler(type=ast.expr() as kind)], orelse=[_, *_], finalbody=[]):
            return _wanted(kind, body)
        case ast.With(items=[ast.withitem(context_expr=ast.Call(args=[kind, *_]) as call)], body=body):
            return _wanted(kind, body) if _called(call) in RAISE else None
        case ast.Expr(value=ast.Call(args=[kind, function, *arguments]) as call) if _called(call) in RAISE:
            return _wanted(kind, [ast.Expr(ast.Call(function, arguments, call.keywords))])
    return None


def _wanted(kind: ast.expr, body: Sequence[ast.stmt]) -> tuple[list[str], list[ast.expr]] | None:
    kinds = [ast.unparse(one).rpartition(".")[2] for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    calls = [one.value for one in body if isinstance(one, ast.Expr | ast.Assign)]
    return (kinds, calls) if len(calls) == len(body) and all(map(str.isidentifier, kinds)) else None


def _short(node: ast.stmt) -> str:
    return shortened(ast.unparse(node).splitlines()[0], LONGEST_KEY)


def _checks_text(exercise_id: str, imported: Imported) -> str:
    words = "Raises, check" if any("judge=Raises" in one for one in imported.checks) else "check"
    head = f'"""{exercise_id[:4]}: the asserts of a notebook, with its inputs: draw others from `given`."""\n'
    holds = HOLDS if any("= holds(" in one for one in imported.checks) else ""
    return f"{head}\nfrom autograder.checks import {words}\n{holds}{''.join(imported.checks)}"


# Say what the asserts let pass.


def _show_mutants(course: Course, exercise_id: str) -> None:
    """Run mutants of the solution for a minute at most, and show those that no check notices."""
    try:
        exercise = resolve_exercise(course, exercise_id)
        text = (course.solutions_dir / exercise.file).read_text("utf-8")
        make_stub(text, exercise)
        suite = load_suite(course, [exercise])
        options = Options(course.seed, os.cpu_count() or 1, until=time.monotonic() + MUTANT_SECONDS)
        [result] = mutate_each(suite, options, on_progress=_show_progress)
    except (StubError, SuiteError, GraderProblem, UsageError) as error:
        say(f"The checks cannot be tried yet: {error}")
        return
    for sentence in _survivors(result, text):
        say(sentence)


def _show_progress(_: str, done: int, total: int) -> None:
    show_count(f"{done} of {total} mutants", last=done == total)


def _survivors(result: ExerciseMutants, solution: str) -> Iterator[str]:
    """Yield how many small changes of a solution the asserts let pass, and the first of them."""
    let, tried = len(result.survivors), result.mutants - result.left
    if not tried and result.left:
        yield (
            f"The checks take too long to try a small change of the solution within {MUTANT_SECONDS} s: "
            f"`course mutate {result.exercise.number}` tries all {result.left}."
        )
        return
    left = f", {result.left} not tried" if result.left else ""
    yield f"Of {plural(tried, 'small change')} of the solution, the asserts let {let} pass{left}."
    for survivor in result.survivors[:MOST_SHOWN]:
        was, becomes = changed_lines(solution, survivor.mutant.source)
        yield f"  line {survivor.mutant.line}: {' '.join(' '.join(was).split())}"
        yield f"  becomes: {' '.join(' '.join(becomes).split()) or 'nothing'}"
    if let:
        yield f"`course mutate {result.exercise.number}` shows each, with an input on which it differs if it finds one."
