"""Mistakes of an author that no program shows: names that nothing has, and names that two things have."""

import builtins
import symtable
from collections.abc import Iterator
from itertools import takewhile
from types import ModuleType

from autograder.checks import Check, Raises
from autograder.course import Course, Exercise
from autograder.course.misconceptions import entries_of
from autograder.course.nearest import nearest, suggestion
from autograder.course.stubs import BEGIN, StubError, stub_text
from autograder.course.suite import Suite
from autograder.protocol.functions import outline_of


def names_without_definition(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each check whose `of` is nothing that the solution defines."""
    source = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    known = [*_top_names(source, exercise), *(function.name for function in outline_of(source).functions)]
    for check in suite.checks[exercise.id]:
        if check.of is not None and check.of not in known:
            yield _no_definition(check, exercise, known)


def exceptions_without_definition(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each exception that a check expects by a name of nothing."""
    source = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    own = _top_names(source, exercise)
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


def _top_names(source: str, exercise: Exercise) -> list[str]:
    """Return the names that a file assigns, defines or imports."""
    table = symtable.symtable(source, exercise.file, "exec")
    return [name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()]


def _no_definition(check: Check, exercise: Exercise, known: list[str]) -> str:
    hint = suggestion(check.of or "", known, "expected the function or class that the result comes from")
    return (
        f"the check {check.id} (line {check.line}) has of={check.of!r}, which {exercise.file} does not define; {hint}"
    )


def hint_problems(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each check without hints, and for each hint without a check, with the nearest check."""
    checks = [check.id for check in suite.checks[exercise.id]]
    others = [name for name in exercise.hints if name not in checks]
    hinted = {check.id for check in suite.checks[exercise.id] if check.hints} | set(exercise.hints)
    bare = [check for check in checks if check not in hinted]
    meant = {nearest(name, bare) for name in others}
    yield from (f"the check {check} has no hints" for check in bare if check not in meant)
    for name in others:
        otherwise = f"expected one of {', '.join(bare or checks)}"
        yield f"there are hints for {name}, which is not a check; {suggestion(name, bare, otherwise)}"


def starts_without_todo(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each name under which course.toml says how to begin, and that is no TODO of the stub."""
    stub = suite.stubs.get(exercise.id)
    if stub is None:
        return  # why there is none has a sentence of its own
    todos = {function.name for function in stub.functions if function.todo}
    for name in exercise.start:
        if name not in todos:
            yield f"[exercises.start] names {name}, which is no TODO of the stub"


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
