"""Mistakes of an author that no program shows: names that nothing has, and names that two things have."""

import ast
import builtins
import dis
import json
import re
import symtable
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile, zip_longest
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograder.answer_key import WrongProgram, unknown_names
from autograder.checks import (
    Check,
    Key,
    Like,
    Raises,
    Same,
    functions_of,
    names_in,
    parts_of,
)
from autograder.comparison import Expected, passes
from autograder.course import (
    BEGIN,
    COURSE_FILE,
    END,
    HINTS,
    ID,
    STEPS_PREFIX,
    Course,
    Exercise,
    StubError,
    Suite,
    catalogue,
    entries_of,
    make_stub,
    outline_of_stub,
    problem_of_hints,
    read_text,
    stub_text,
    suggestion,
)
from autograder.protocol import Array, Value, outline_of
from autograder.runner import Observed, Outcome, Runner

from .reference_parts import PartError, stale_parts

TODO_COMMENT = re.compile(r"\s*#+\s*TODO (ex\d+)\b")


def names_without_definition(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each check whose `of` is nothing that the solution defines."""
    source = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    known = [*top_names(source, exercise), *(function.name for function in outline_of(source).functions)]
    for check in suite.checks[exercise.id]:
        if check.of is not None and check.of not in known:
            yield _no_definition(check, exercise, known)


def exceptions_without_definition(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each exception that a check expects by a name of nothing."""
    source = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    own = top_names(source, exercise)
    for check in suite.checks[exercise.id]:
        for name in check.judge.types if isinstance(check.judge, Raises) else ():
            if not hasattr(builtins, name) and name not in own and not _is_imported(check, name):
                yield _no_exception(check, exercise, name, own)


def _no_exception(check: Check, exercise: Exercise, name: str, own: list[str]) -> str:
    kinds = [word for word, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    hint = suggestion(name, [*own, *kinds], "correct the name, or import its class and name that in `types`")
    nothing = f"which is no exception of Python and not defined in {exercise.file}"
    return f"the check {check.id} (line {check.line}) expects {name}, {nothing}; {hint}"


def _is_imported(check: Check, name: str) -> bool:
    """Whether the file with the check has a class of that name, itself or in a module that it imports."""
    values = check.probe.__globals__.values()
    return any(
        getattr(value, "__name__", "") == name or (isinstance(value, ModuleType) and hasattr(value, name))
        for value in values
    )


def top_names(source: str, exercise: Exercise) -> list[str]:
    """Return the names that a file assigns, defines or imports."""
    table = symtable.symtable(source, exercise.file, "exec")
    return [name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()]


def _no_definition(check: Check, exercise: Exercise, known: list[str]) -> str:
    hint = suggestion(check.of or "", known, "expected the function or class that the result comes from")
    return (
        f"the check {check.id} (line {check.line}) has of={check.of!r}, which {exercise.file} does not define; {hint}"
    )


def hint_problems(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each hint without a check, with the nearest check that has none."""
    checks, bare = [check.id for check in suite.checks[exercise.id]], _without_hints(suite, exercise)
    for name in (name for name in exercise.hints if name not in checks):
        hint = suggestion(name, bare, f"expected one of {', '.join(bare or checks)}")
        message = f"there are hints for {name}, which is not a check; {hint}"
        yield problem_of_hints(suite.course, exercise, ("hints", name), message)


def missing_hints(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence if checks of an exercise have no hints: an author writes them last, a kit needs them."""
    if bare := _without_hints(suite, exercise):
        many = f"{len(bare)} checks have no hints" if len(bare) > 1 else "a check has no hints"
        message = f"{many} yet ({', '.join(bare)}); `course release` needs three for each"
        yield problem_of_hints(suite.course, exercise, ("hints",), message)


def _without_hints(suite: Suite, exercise: Exercise) -> list[str]:
    return [check.id for check in suite.checks[exercise.id] if not check.hints and check.id not in exercise.hints]


def starts_without_todo(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each name under which [start] says how to begin, and that is no TODO of the stub."""
    stub = suite.stubs.get(exercise.id)
    if stub is None:
        return  # why there is none has a sentence of its own
    todos = [function.name for function in stub.functions if function.todo]
    given = [name for name, _ in given_away(suite.course, exercise)]
    otherwise = f"expected one of {', '.join(todos)}" if todos else "remove it"
    for name in exercise.start:
        if name not in [*todos, *given]:
            message = f"[start] names {name}, which is no TODO of the stub; {suggestion(name, todos, otherwise)}"
            yield problem_of_hints(suite.course, exercise, ("start", name), message)


def given_away(course: Course, exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield the name of each function whose work a stub contains, with a sentence: it has a TODO and does not raise."""
    stub, solution = outline_of_stub(course, exercise), course.solutions_dir / exercise.file
    if stub is None or not solution.is_file():
        return  # why there is none has a sentence of its own
    lines = read_text(solution).splitlines()
    left = {function.name for function in stub.functions if not function.todo}
    for function in outline_of(read_text(solution)).functions:
        own = [line.strip() for line in lines[function.line - 1 : function.end]]
        if function.name in left and any(line == BEGIN or TODO_COMMENT.match(line) for line in own):
            work = f"{exercise.file}:{function.body}: {function.name} is given away: its work is outside of {BEGIN}"
            yield function.name, f"{work}; write the mark above it, and one below it"
    for name, helper in _only_calls(read_text(solution), left):
        work = f"{exercise.file}:{helper.lineno}: {name} is given away: all that it does is call {helper.name}"
        yield name, f"{work}, which is outside of {BEGIN}; put its work into a region too"


def _only_calls(solution: str, given: Collection[str]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions whose region hands all arguments to a given function of the file, with that function."""
    module = ast.parse(solution)
    helpers = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef) and node.name in given}
    for node in ast.walk(module):
        if not isinstance(node, ast.FunctionDef) or node.name in helpers:
            continue
        own = [one for one in node.body if not isinstance(one, ast.Expr) or not isinstance(one.value, ast.Constant)]
        arguments = [argument.arg for argument in node.args.args if argument.arg != "self"]
        match own:
            case [ast.Return(value=ast.Call(func=ast.Name(id=name), args=args, keywords=[]))] if name in helpers:
                if [one.id for one in args if isinstance(one, ast.Name)] == arguments and len(args) == len(arguments):
                    yield node.name, helpers[name]


def regions_without_todo(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each function whose solution region has no `# TODO` comment above it."""
    try:
        stub = stub_text(course, exercise)
        functions = outline_of(stub).functions if stub is not None else ()
    except (StubError, SyntaxError, ValueError):  # each has a sentence of its own
        return
    lines = (stub or "").splitlines()
    for function in functions:
        above = takewhile(lambda line: line.lstrip().startswith("#"), reversed(lines[: max(function.todo - 1, 0)]))
        if function.todo and not any("TODO" in line for line in above):
            comment = f"`# TODO {exercise.id[:4]}: ...`"
            yield f"{function.name} has no comment {comment} above {BEGIN}; say there what to write"


def todos_of_others(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each `# TODO exNN` in the solution that has the number of another exercise."""
    own, file = exercise.id[:4], course.solutions_dir / exercise.file
    for number, line in enumerate(read_text(file).splitlines() if file.is_file() else (), 1):
        named = TODO_COMMENT.match(line)
        if named and named[1] != own:
            yield f"line {number} of the solution says TODO {named[1]}, expected TODO {own}"


def unlisted_imports(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each library that a file of an exercise imports and that `libraries` does not list.

    A kit installs what is listed, and a worker loads it. NumPy and pytest come with the engine, so checks and accepted
    variants may use them: right programs of students do.
    """
    accepted = sorted((course.solutions_dir / "accepted" / exercise.id).glob("*.py"))
    of_checks = (course.checks_file(exercise), course.steps_file(exercise), *accepted)
    own = {other.id for other in course.every} | {file.stem for file in course.checks_dir.glob("*.py")}
    known = {*sys.stdlib_module_names, *course.libraries, *exercise.libraries, *own, "autograder"}
    for file in (course.solutions_dir / exercise.file, course.part_sources_dir / exercise.file, *of_checks):
        allowed = known | ({"numpy", "pytest"} if file in of_checks else set())
        for line, module in _imports(file):
            if module not in allowed:
                name = file.relative_to(course.root)
                remedy = f"list it there, like libraries = {json.dumps([*course.libraries, module])}, or do without"
                yield f"{name}: line {line} imports {module}, which libraries of {COURSE_FILE} does not list; {remedy}"


def foreign_imports(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each name that given code takes from an earlier exercise, and only its region defines."""
    file = course.solutions_dir / exercise.file
    for line, earlier, name in _taken_names(course, file):
        other = course.solutions_dir / course.exercise(earlier).file
        with suppress(OSError, SyntaxError, ValueError, StubError):  # each has a sentence of its own
            stub, source = stub_text(course, course.exercise(earlier)), read_text(other)
            if stub is None or name in top_names(stub, course.exercise(earlier)):
                continue
            found = re.search(rf"^(?:def|class)?\s*{name}\b", source, re.MULTILINE)
            at = source.count("\n", 0, found.start()) + 1 if found else 1
            where = f"{other.relative_to(course.root)}:{at}"
            remedy = f"move it out of the region in {where}, or do without"
            taken = f"{file.relative_to(course.root)}:{line}: the stub takes {name} from {earlier}"
            yield f"{taken}, whose stub does not define it, so students have no {name}; {remedy}"


def _taken_names(course: Course, file: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the exercise and the name of what code outside of regions takes from a file of an exercise."""
    ids = {other.id for other in course.every}
    try:
        lines = read_text(file).splitlines() if file.is_file() else []
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return
    inside, begun = set[int](), False
    for number, text in enumerate(lines, 1):
        begun = (begun or text.strip() == BEGIN) and text.strip() != END
        inside |= {number} if begun else set()
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                known |= {one.asname or one.name: one.name for one in names if one.name in ids}
            case ast.ImportFrom(module=str(module), names=names) if module in ids and node.lineno not in inside:
                yield from ((node.lineno, module, one.name) for one in names if one.name != "*")
            case ast.Attribute(value=ast.Name(id=str(alias))) if alias in known and node.lineno not in inside:
                yield node.lineno, known[alias], node.attr


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the package of each import in a file; none of what cannot be read, which is said elsewhere.

    An import in a `try` with an `except ImportError` is none: the file does without.
    """
    try:
        tree = ast.parse(read_text(file)) if file.is_file() else ast.Module([], [])
    except (SyntaxError, ValueError):
        return
    tries = (node for node in ast.walk(tree) if isinstance(node, ast.Try))
    tried = {one for node in tries if any(map(_catches_import, node.handlers)) for one in node.body}
    for node in ast.walk(tree):
        if node in tried:
            continue
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name.partition(".")[0]) for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]


def _catches_import(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and "ImportError" in ast.unparse(handler.type)


def reworded_patches(course: Course, exercise: Exercise, catalogue: Sequence[WrongProgram]) -> Iterator[str]:
    """Yield a sentence about patches that the solution has in other words, and one for each with names it lacks."""
    solution = read_text(course.solutions_dir / exercise.file)
    if moved := [entry.id for entry in catalogue if entry.moved]:
        repair = f"`course build {exercise.number} --repair` rewrites them"
        yield f"the solution has the patches of {', '.join(moved)} in other words, and they still fit; {repair}"
    for entry in catalogue:
        if names := unknown_names(entry, solution):
            means = "if that is not the mistake, write the names that the solution has now"
            yield f"the misconception {entry.id} uses {', '.join(names)}, which nothing defines; {means}"


def catalogue_mistakes(suite: Suite) -> Iterator[str]:
    """Yield a sentence for each id of two exercises, if one of them is proved."""
    course = suite.course
    proved = {exercise.id for exercise in suite.exercises}
    owner: dict[str, str] = {}
    for exercise in course.every:
        for id_ in entries_of(course, exercise):
            if id_ in owner and proved & {exercise.id, owner[id_]}:
                yield f"{exercise.id}: the misconception {id_} has the id of one of {owner[id_]}; give it another id"
            owner.setdefault(id_, exercise.id)


# Checks that prove nothing: their result does not change with the seed, or not with the input of a standard check.

MAKE = "see that `make` uses the dtype it gets, and that what it returns moves nothing itself"

FIRST_SEEDS = (5, 6)
"""The results of the second must not be right under the first. Most checks show that in one trial."""

MORE_SEEDS = (7, 8, 9, 10)
"""For the others, in all trials: a judge that asks for a likeness may find one by chance, but not three more times."""


def fixed_sizes(course: Course) -> Course:
    """Return the course with one column of sizes, so that only what is drawn differs from seed to seed."""
    parts = tuple(replace(part, sizes=part.sizes[:1]) for part in course.parts)
    return replace(course, sizes=course.sizes[:1], parts=parts)


def alike(checks: Sequence[Check], right: Mapping[Key, Outcome], other: Mapping[Key, Outcome]) -> set[str]:
    """Return the checks that the results of one seed pass under another one."""
    found = set()
    for check in checks:
        pairs = [(right.get((check.id, trial)), other.get((check.id, trial))) for trial in range(check.trials)]
        if all(
            isinstance(expected, Observed)
            and sent is not None
            and passes(sent, Expected(expected.value, expected.value), check.judge)
            for expected, sent in pairs
        ):
            found.add(check.id)
    return found


def alone(checks: Sequence[Check], known: set[str]) -> set[str]:
    """Return the checks of `known` that count without a check that is computed."""
    computed = {check.id for check in checks} - known
    return {
        check.id for check in checks if not (check.requires_any and computed.issuperset(check.requires_any))
    } & known


def unchanging(suite: Suite, runner: Runner, exercise: Exercise, sources: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a sentence for each check that gives the solution one result under every seed."""
    checks = suite.checks[exercise.id]
    own, seed = runner.suite, runner.seed
    runner.suite = replace(own, course=fixed_sizes(own.course))
    known = {check.id for check in checks}
    try:
        for seeds, trials in ((FIRST_SEEDS, 1), (MORE_SEEDS, max(check.trials for check in checks))):
            asked = [replace(check, trials=min(trials, check.trials)) for check in checks if check.id in known]
            plan = {exercise.id: [key for check in asked for key in check.keys]}
            found = []
            for runner.seed in seeds:
                found.append(runner.run(sources, plan).outcomes.get(exercise.id, {}))
            right, *others = found
            known = set.intersection(*(alike(asked, right, other) for other in others))
            if not alone(checks, known):
                return
    finally:
        runner.suite, runner.seed = own, seed
    for check in [check for check in checks if check.id in alone(checks, known) and not check.empty]:
        if isinstance(check.judge, FunctionType):
            yield (
                f"the judge {check.judge.__name__} of the check {check.id} accepts the results of other seeds: return "
                "a sentence in it where yours differs from expected, or draw the input of the check from `given`"
            )
            continue
        yield (
            f"the check {check.id} has the same result under every seed, so a program can know it: draw its input from "
            "`given` (sizes alone are no input), return numbers in place of a conclusion such as True, or name checks "
            "that do so in requires_any"
        )


# What the code of a check reads of the clock and of the machine, with the functions that it uses.

DATES = {
    *(f"time.{name}" for name in ("time", "time_ns", "ctime", "asctime", "localtime", "gmtime", "strftime")),
    *(f"datetime.{name}" for name in ("now", "utcnow", "today")),
}
"""What gives the date or the time of day, by module: two runs in one minute may agree, and a kit is used for months."""

DRAWS = {
    *(f"time.{name}_ns" for name in ("perf_counter", "monotonic", "process_time", "thread_time")),
    *(f"time.{name}" for name in ("perf_counter", "monotonic", "process_time", "thread_time")),
    *("uuid.uuid1", "uuid.uuid4", "secrets.token_bytes", "secrets.token_hex", "secrets.randbelow", "secrets.choice"),
}
"""What differs from run to run: a result that depends on it shows in two runs of the solution."""

MACHINE = {
    **dict.fromkeys(("os.environ", "os.environb", "os.getenv"), "an environment variable"),
    **dict.fromkeys(("os.cpu_count", "os.process_cpu_count", "os.sched_getaffinity"), "the number of processors"),
    **dict.fromkeys(("multiprocessing.cpu_count", "torch.get_num_threads"), "the number of processors"),
    **dict.fromkeys(("os.getcwd", "os.path.expanduser", "pathlib.cwd", "pathlib.home"), "a folder of this machine"),
    **dict.fromkeys(("tempfile.gettempdir", "tempfile.mktemp"), "a folder of this machine"),
    **dict.fromkeys(("os.uname", "sys.platform", "platform.*", "socket.*", "uuid.getnode"), "the kind of machine"),
    **dict.fromkeys(("sys.version", "sys.version_info", "sys.hexversion"), "the version of Python"),
    **dict.fromkeys(("sys.implementation", "sys.executable"), "the version of Python"),
    **dict.fromkeys(("os.getlogin", "os.getuid", "getpass.*"), "the name of the user"),
    **dict.fromkeys(("os.getpid", "os.getppid"), "the number of the process"),
    **dict.fromkeys(("threading.get_ident", "threading.get_native_id"), "the number of the thread"),
    "locale.*": "the language of this machine",
}
"""What differs from machine to machine, by module, in words; `*` stands for all names of a module."""

_SQL_DATE = re.compile(
    r"""[(,]\s*'now'|\bCURRENT_(?:TIMESTAMP|DATE|TIME)\b"""
    r"""|\b(?:select|set|values|where|default)\b.*\b(?:date|time|datetime|julianday|unixepoch)\(\s*\)""",
    re.IGNORECASE | re.DOTALL,
)
"""A clock in a text of SQL, which Python does not see."""


def reading_dates(checks: Sequence[Check]) -> Iterator[str]:
    """Yield a sentence for each check whose code reads the date or the time of day."""
    for check in checks:
        if reads_date(check.probe):
            yield (
                f"the check {check.id} (line {check.line}) reads the date or the time of day, and a kit is used on "
                "another day: give the code a date of your own, and measure durations with time.perf_counter"
            )


def reading_machines(checks: Sequence[Check]) -> Iterator[str]:
    """Yield a sentence for each check whose code reads what another machine has in another way."""
    for check in checks:
        for name, what in reads_machine(check.probe).items():
            yield (
                f"the check {check.id} (line {check.line}) reads {what} ({name}), and a kit is used on another "
                "machine: draw the input from `given`, or write it into the check"
            )


def reading_clocks(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each check that reads what differs from run to run, and for a solution that reads a date."""
    for check in suite.checks[exercise.id]:
        if reads_draws(check.probe):
            yield (
                f"the check {check.id} reads a timer or another source that no seed sets: its result must not depend "
                "on it, because a kit compares with results from another day"
            )
    with suppress(OSError, SyntaxError, ValueError):  # each has a sentence of its own
        source = read_text(suite.course.solutions_dir / exercise.file)
        code = compile(source, exercise.file, "exec", optimize=2)
        for name, what in code_reads_machine(code, {}).items():
            yield f"the solution reads {what} ({name}): no check may observe it, as a kit is used on other machines"
        if code_reads_date(code, {}):
            yield "the solution reads the date or the time of day: no check may observe it, as a kit is used for months"


def orders_of_sets(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each line of the solution, or of its checks, that makes a list or a text of a set as it is.

    Its order is the same in every worker, but another right program makes the set in another way.
    """
    for file in (course.solutions_dir / exercise.file, course.checks_file(exercise)):
        nodes: list[ast.AST] = []
        with suppress(OSError, SyntaxError, ValueError):  # each has a sentence of its own
            nodes += ast.walk(ast.parse(read_text(file)))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        plain = {id(arg) for call in calls if ast.unparse(call.func) in WITHOUT_ORDER for arg in call.args}
        for node in nodes:
            match node:
                case ast.Call(
                    func=ast.Name(id="list" | "tuple" | "enumerate") | ast.Attribute(attr="join"),
                    args=[ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset"))],
                ) if id(node) not in plain:
                    where = f"{file.name}, line {node.lineno}"
                    yield f"{where}: a set has no order that other right programs share: write sorted(...)"


WITHOUT_ORDER = ("sorted", "set", "frozenset", "len", "sum", "min", "max", "any", "all")
"""What gives the same, in whatever order the elements come."""


def reads_draws(probe: Callable[..., Any]) -> bool:
    """Say whether a probe, or a function that it uses, reads a timer or random numbers that no seed sets."""
    return any(
        not _sources(function.__code__, function.__globals__).isdisjoint(DRAWS) for function in functions_of(probe)
    )


def reads_date(probe: Callable[..., Any]) -> bool:
    """Say whether a probe, or a function that it uses, reads the date or the time of day, in Python or in SQL."""
    functions = functions_of(probe)
    return any(code_reads_date(one.__code__, one.__globals__, one.__doc__) for one in functions)


def code_reads_date(code: CodeType, names: Mapping[str, Any], documented: str | None = None) -> bool:
    """Say whether code, where `names` are global, reads the date or the time of day; `documented` is its docstring."""
    texts = [*_texts(code), *(text for name in names_in(code) if isinstance(text := names.get(name), str))]
    return not _sources(code, names).isdisjoint(DATES) or any(
        _SQL_DATE.search(text) for text in texts if text != documented
    )


def reads_machine(probe: Callable[..., Any]) -> dict[str, str]:
    """Return the names of what a probe, or a function that it uses, reads of the machine, each with its words."""
    found: dict[str, str] = {}
    for function in functions_of(probe):
        found |= code_reads_machine(function.__code__, function.__globals__)
    return found


def code_reads_machine(code: CodeType, names: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of what code, where `names` are global, reads of the machine, each with its words."""
    sources = {re.sub(r"^(?:posix|nt)\.", "os.", source) for source in _sources(code, names)}
    every = {source: f"{source.partition('.')[0]}.*" for source in sorted(sources)}
    return {name: MACHINE.get(name) or MACHINE[every[name]] for name in every if {name, every[name]} & MACHINE.keys()}


def _sources(code: CodeType, names: Mapping[str, Any]) -> set[str]:
    """Return the modules that code uses, each with every attribute that the code reads of anything."""
    instructions = [one for part in parts_of(code) for one in dis.get_instructions(part)]
    loads = [one for one in instructions if one.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")]
    following = [one.argval for one in loads[1:]]
    # `os.environ.setdefault` sets a variable, and its result is not read.
    read = {one.argval for one, after in zip_longest(loads, following) if after != "setdefault"}
    modules = {one.argval for one in instructions if one.opname == "IMPORT_NAME"}
    used = set[str]()
    for name in names_in(code):
        value = names.get(name)
        if isinstance(value, ModuleType):
            modules.add(value.__name__)
        elif isinstance(module := getattr(value, "__module__", None), str):
            modules.add(module)
            used.add(f"{module}.{getattr(value, '__name__', name)}")
    return {*used, *(f"{module}.{name}" for module in modules for name in read)}


def _texts(code: CodeType) -> Iterator[str]:
    for constant in (constant for part in parts_of(code) for constant in part.co_consts):
        yield from (text for text in (constant if isinstance(constant, tuple) else [constant]) if isinstance(text, str))


def not_following(checks: Sequence[Check], reference: Mapping[Key, Expected]) -> Iterator[str]:
    """Yield a sentence for each standard check in which the solution does not follow the dtype or the device."""
    for check in checks:
        value = reference[check.id, 0].nominal
        if not isinstance(value, dict):
            continue
        if check.kind == "dtypes":
            wrong = {name: part.dtype for name, part in value.items() if isinstance(part, Array) and part.dtype != name}
            if wrong:
                found = ", ".join(f"{found} for {name}" for name, found in wrong.items())
                yield f"the check {check.id}: the solution returns {found}, so it notices no other dtype; {MAKE}"
        elif check.kind == "device" and _device_of(value) == "cpu":
            yield f"the check {check.id}: the solution returns a tensor on the CPU for an input elsewhere; {MAKE}"


def exceptions_inside(checks: Sequence[Check], reference: Mapping[Key, Expected]) -> Iterator[str]:
    """Yield a sentence for each check that returns what `given.raises` observes inside a list or a dict."""
    for check in checks:
        value = reference[check.id, 0].nominal
        if not _is_exception(value) and any(map(_is_exception, _inside(value))):
            yield (
                f"the check {check.id} returns what given.raises observes inside a list or a dict, and its judge would "
                "compare the words of the message; return it alone with judge=Raises(...), in one check for each call"
            )


def _is_exception(value: Value) -> bool:
    return isinstance(value, dict) and {"raised", "mentions"} <= value.keys()


def _inside(value: Value) -> Iterator[Value]:
    """Yield everything inside a value, at any depth."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        yield part
        yield from _inside(part)


EVERY_ERROR = {"BaseException", "Exception"}


def raising_anything(checks: Sequence[Check], reference: Mapping[Key, Expected]) -> Iterator[str]:
    """Yield a sentence for each check that any crash passes: its judge accepts every exception with every message."""
    for check in checks:
        value = reference[check.id, 0].nominal
        names = EVERY_ERROR.intersection(check.judge.types) if isinstance(check.judge, Raises) else ()
        if names and isinstance(value, dict) and not value.get("mentions"):
            remedy = "name the exception that is right, or what its message mentions in given.raises"
            yield f"the check {check.id} (line {check.line}) expects {min(names)}, so any crash passes; {remedy}"


MOST_TOLERANCE = 0.1
"""The largest tolerance of a good check: for the gradients of numbers in half precision."""


def coarse_tolerances(checks: Sequence[Check]) -> Iterator[str]:
    """Yield a sentence for each check that passes results which are far from the right ones."""
    for check in checks:
        tolerance = check.judge.tolerance if isinstance(check.judge, Same | Like) else None
        if tolerance is not None and tolerance > MOST_TOLERANCE:
            expected = f"expected at most {MOST_TOLERANCE}: only coarse mistakes fail it"
            yield f"the check {check.id} (line {check.line}) has the tolerance {tolerance}, {expected}"


def imported_solutions(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each exercise that the checks or the steps of an exercise import."""
    ids = {other.id for other in course.every}
    for file in (course.checks_file(exercise), course.steps_file(exercise)):
        for line, module in _imports(file):
            if module in ids:
                where = f"{file.relative_to(course.root).as_posix()}:{line}: a check cannot import {module}"
                yield f"{where}; use impl, and return its result: the answer key has that of the solution"


def _device_of(value: Mapping[str, Value]) -> str:
    output = value.get("output")
    moved = output[0] if isinstance(output, list) and output else None
    return moved.device if isinstance(moved, Array) else ""


# Texts of an exercise that an author still has to write: placeholders, repeated texts, hints of a few words.

PLACEHOLDER = "TODO"

MOST_ALIKE = 2
"""Two misconceptions may share an explanation or a question. Three with the same text is usually a filler."""

FEWEST_WORDS = 3
"""A hint of two words says nothing that the name of the check does not say. Good ones have ten or more."""


def stale_stubs(course: Course, exercises: Sequence[Exercise] | None = None) -> dict[Path, str]:
    """Return the expected text of every stub that is missing or differs from its solution; of all, or of some."""
    stale = {}
    for exercise in course.exercises if exercises is None else exercises:
        stub = make_stub(read_text(course.solutions_dir / exercise.file), exercise)
        file = course.exercises_dir / exercise.file
        if not file.is_file() or read_text(file) != stub:
            stale[file] = stub
    return stale


def stale_files(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for a stub or a reference part of an exercise that differs from what `course build` makes."""
    build = f"`course build {exercise.number}"
    with suppress(OSError, UnicodeDecodeError, StubError, PartError):  # each has a sentence of its own
        for file in filter(Path.exists, stale_stubs(course, [exercise])):
            name = file.relative_to(course.root)
            yield f"{name} differs from what the solution gives: {build} --force` replaces it, and its notebook"
        for file in stale_parts(course, [exercise]):
            yield f"{file.relative_to(course.root)} is missing or old: {build}` makes it"


def unfinished_texts(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each kind of text that says too little to a learner."""
    entries = [entry for entry in catalogue(course).values() if entry["exercise"] == exercise.id]
    texts = {
        "the texts of [start]": [text for begin in exercise.start.values() for text in begin],
        "the hints of the checks": [hint for hints in exercise.hints.values() for hint in hints],
        "the explanations of the misconceptions": _there(entries, "explanation"),
        "the hints of the misconceptions": _there(entries, "hint"),
    }
    placeholders = {
        "the lines of the solution": _lesson(course, exercise),
        "the names of the misconceptions": list(filter(_is_placeholder, (entry.get("name", "") for entry in entries))),
    }
    if not _has_lesson(course, exercise):
        yield f"{exercise.id}: the lesson has no text below its title; write it in the comments of {exercise.file}"
    for which, found in {**placeholders, **texts}.items():
        yield from (f"{exercise.id}: of {which}, {sentence}" for sentence in _sentences(found))


def _there(entries: Sequence[Mapping[str, str]], key: str) -> list[str]:
    """Return the texts that are there: a missing one is a problem of the catalogue."""
    return [text for entry in entries if (text := entry.get(key, "")).strip()]


def _is_placeholder(text: str) -> bool:
    return text.startswith(PLACEHOLDER)


def _has_lesson(course: Course, exercise: Exercise) -> bool:
    """Whether the cells of text have more than titles; a missing solution has a sentence of its own."""
    file = course.solutions_dir / exercise.file
    cells = re.split(r"^# ?%%", file.read_text("utf-8"), flags=re.MULTILINE) if file.is_file() else [" [markdown]\n# a"]
    lines = [line for cell in cells if cell.startswith(" [markdown]") for line in cell.splitlines()[1:]]
    return any(re.match(r"#\s+[^#\s]", line) for line in lines)


def _lesson(course: Course, exercise: Exercise) -> list[str]:
    """Return the placeholders in the lesson and the docstrings: `TODO ex05` is a task, and `TODO:` is none."""
    file = course.solutions_dir / exercise.file
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return [line[line.index(f"{PLACEHOLDER}:") :] for line in lines if f"{PLACEHOLDER}:" in line]


def _sentences(texts: Sequence[str]) -> Iterator[str]:
    placeholders = list(filter(_is_placeholder, texts))
    if placeholders:
        yield f"{len(placeholders)} still {'says' if len(placeholders) == 1 else 'say'} {PLACEHOLDER}"
    for text, count in Counter(texts).items():
        if count > MOST_ALIKE and text not in placeholders:
            yield f"{count} are equal: {text!r}"
    short = [text for text in texts if len(text.split()) < FEWEST_WORDS and text not in placeholders]
    if short:
        has = "has" if len(short) == 1 else "have"
        yield f"{len(short)} {has} fewer than {FEWEST_WORDS} words; the first is {short[0]!r}"


# Find the files that belong to no exercise of course.toml: those of an exercise that was removed or renamed.

OF_EXERCISES = (
    *("exercises/{}.py", "exercises/notebooks/{}.ipynb", "solutions/{}.py"),
    *("tests/exercises/test_{}.py", f"tests/exercises/{STEPS_PREFIX}{{}}.py", f"{HINTS}/{{}}.toml"),
    *("solutions/misconceptions/{}.toml", "solutions/misconceptions/{}.json", "solutions/equivalents/{}.toml"),
    "solutions/misconceptions/{}",
    "solutions/accepted/{}",
    *("solutions/accepted/whole/*/{}.py", "solutions/accepted/whole/*/{}.toml"),
    *("solutions/reference_parts/{}.py", "tests/exercises/reference_parts/{}.json"),
)
"""The files and folders of an exercise, with {} for its id."""

MADE = ("exercises/", "tests/exercises/reference_parts/")
"""Where `course build` writes."""

_MAY_HAVE_OTHERS = ("exercises/{}.py", "exercises/notebooks/{}.ipynb", "solutions/{}.py")
"""Here files with other names than those of exercises are no leftovers: an author may have helpers and drafts."""


def leftovers(course: Course) -> dict[str, list[str]]:
    """Return the files of no exercise, relative to the course, by the id that their names have."""
    known = {exercise.id for exercise in course.every}
    found: dict[str, list[str]] = {}
    for pattern in OF_EXERCISES:
        before, after = Path(pattern).name.split("{}")
        for file in sorted(course.root.glob(pattern.replace("{}", "*"))):
            name = file.name.removeprefix(before).removesuffix(after)
            if name in known or _is_other(pattern, name, file):
                continue
            found.setdefault(name, []).append(file.relative_to(course.root).as_posix())
    return found


def leftover_problems(course: Course) -> Iterator[str]:
    """Yield a sentence for each id that files have and no exercise has."""
    ids = [exercise.id for exercise in course.every]
    for name, files in leftovers(course).items():
        yield f"{', '.join(files)}: {COURSE_FILE} has no exercise {name}; {suggestion(name, ids, _remedy(files))}"
    for exercise in course.every:
        for file in _unnamed_programs(course, exercise):
            catalogue = f"solutions/misconceptions/{exercise.id}.toml"
            named = f'no misconception has program = "{file.name}"; name it in {catalogue}, or remove the file'
            yield f"{file.relative_to(course.root).as_posix()}: {named}"
    yield from _stray_files(course)


def _stray_files(course: Course) -> Iterator[str]:
    """Yield a sentence for each file beside those of exercises that no command reads, and each link out of a course."""
    accepted, root = course.solutions_dir / "accepted", course.root.resolve()
    ids = "|".join(exercise.id for exercise in course.every)
    for file in sorted([*course.solutions_dir.rglob("*"), *course.checks_dir.rglob("*")]):
        name = file.relative_to(course.root).as_posix()
        if file.is_symlink() and not file.resolve().is_relative_to(root):
            yield f"{name}: it is a link to a file outside of the course; put the file itself there"
        elif file.is_dir() or "__pycache__" in file.parts or file.name.startswith("."):
            continue
        elif file.parent == accepted:
            yield f"{name}: no proof reads it; move a variant to solutions/accepted/{file.stem}/NAME.py, or remove it"
        elif file.parent.parent == accepted and file.suffix != ".py":
            yield f"{name}: no proof reads it; give a variant a name that ends with .py, or remove the file"
        elif copied := re.match(rf"(?:test_|{STEPS_PREFIX})?({ids})(?:\W+\w+\W*\.\w+|\.\w+(?:~|\.\w+))$", file.name):
            yield f"{name}: it looks like a copy of a file of {copied[1]}, and no command reads it; remove it"


def _unnamed_programs(course: Course, exercise: Exercise) -> list[Path]:
    """Return the wrong programs beside a catalogue that no entry of it names."""
    folder = course.catalogue_file(exercise).with_suffix("")
    named = [entry.get("program") for entry in entries_of(course, exercise).values()]
    if not named:
        return []  # the catalogue is missing or cannot be read, which has a sentence of its own
    return [file for file in sorted(folder.glob("*.py")) if file.name not in named]


def made_leftovers(course: Course) -> list[str]:
    """Return the files of no exercise that an earlier `course build` made, relative to the course."""
    return [file for files in leftovers(course).values() for file in files if file.startswith(MADE)]


def is_leftover(course: Course, file: Path) -> bool:
    """Say whether a file beside the checks has the name of checks or steps, but no exercise that the class takes."""
    taken = {exercise.id for exercise in course.exercises}
    named = re.fullmatch(rf"(?:test_|{STEPS_PREFIX})(.+)\.py", file.name)
    return file.parent == course.checks_dir and named is not None and named[1] not in taken


def _is_other(pattern: str, name: str, file: Path) -> bool:
    """Whether a file is none of an exercise that was removed: a helper, a folder without programs, whole courses."""
    if pattern.endswith(("accepted/{}", "misconceptions/{}")):
        return name == "whole" or not any(file.glob("*.py"))
    return pattern in _MAY_HAVE_OTHERS and not ID.fullmatch(name)


def _remedy(files: Sequence[str]) -> str:
    return "rename the file, or remove it" if len(files) == 1 else "rename the files, or remove them"
