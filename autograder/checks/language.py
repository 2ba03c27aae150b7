"""`@check` declares one graded behaviour: a probe with a title, a share of the points and a judge. `@picture` declares
a picture of what a finished implementation does, `@step` a step of the lesson's worked example."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

from autograder.checks.judges import DeclarationError, Dropout, Judge, Like, Raises, Same

Probe = Callable[[Any, Any], Any]
"""A function `(impl, given)` that runs an implementation on the inputs of a trial and returns an observation."""

PREFIX = "test_"
PICTURE_PREFIX = "picture_"
STEP_PREFIX = "step_"

LONGEST_TITLE = 76
"""Characters of a picture's title that fit into a terminal of 80 columns, with its margin."""

LONGEST_STEP = 26
"""Characters of a step's title that leave room for two small arrays in a terminal of 80 columns."""


DECLARED = "__declared__"
"""The name under which a file with checks lists its probes, so that one which another name replaces is noticed."""


@dataclass(frozen=True)
class Check:
    """One graded behaviour of an exercise.

    `points` is its share of the exercise's points. `of` names the function or class that the observation comes from,
    which locates a mistake. `trials` is how often it runs, each time on inputs of other sizes. A `bonus` check adds to
    the score and is not needed for full marks. With `requires_any` it counts only if at least one of these checks
    passes, so that a program that computes nothing earns nothing. `empty` states why an empty program may pass it.
    `hints` are used where course.toml has none. `kind` is that of a standard check. `line` is where it is declared.
    """

    id: str
    title: str
    probe: Probe
    points: float
    judge: Judge
    of: str | None
    trials: int
    bonus: bool = False
    requires_any: tuple[str, ...] = ()
    empty: str = ""
    hints: tuple[str, ...] = ()
    kind: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Drawing:
    """A picture of what a finished implementation does: worth no points, and shown to those who pass a self-check.

    Its probe returns a tensor of two axes, or a tuple of such a tensor, labels of its rows and labels of its columns,
    which may be empty. `rows` and `columns` name the axes in one word.
    """

    id: str
    title: str
    probe: Probe
    rows: str
    columns: str


@dataclass(frozen=True)
class Step:
    """A step of the lesson's worked example: worth no points, and shown by `course try`.

    Its probe returns a number, a list or a tensor of at most two axes. `paper` has the numbers that the lesson prints
    for it: a line for each row, with as many digits as the lesson has. An `inside` step looks into a module: if all
    other steps are as on paper, a program that computes it in another way is right too.
    """

    id: str
    title: str
    probe: Probe
    paper: str
    inside: bool = False


def check(
    title: str,
    *,
    points: float = 1,
    judge: Judge | None = None,
    of: str | None = None,
    trials: int = 2,
    bonus: bool = False,
    requires_any: Sequence[str] = (),
    empty: str = "",
) -> Callable[[Probe], Probe]:
    """Declare the function `test_ID(impl, given)` as the probe of a check; `title` states what passes."""
    if points <= 0 or trials < 1:
        raise DeclarationError(f"check {title!r}: points and trials must be positive, found {points} and {trials}")
    if isinstance(requires_any, str):
        raise DeclarationError(
            f"check {title!r}: requires_any is the text {requires_any!r}, expected a tuple of checks"
        )
    if problem := _judge_problem(judge):
        raise DeclarationError(f"check {title!r}: {problem}")

    def declare(probe: Probe) -> Probe:
        name = probe.__name__
        if not name.startswith(PREFIX):
            raise DeclarationError(f"the probe {name} must be named {PREFIX}{name}, so that pytest finds it")
        id_, needed = name.removeprefix(PREFIX), tuple(requires_any)
        line = probe.__code__.co_firstlineno
        declared = Check(id_, title, probe, points, judge or Same(), of, trials, bonus, needed, empty, line=line)
        probe.__check__ = declared  # type: ignore[attr-defined]
        _announce(probe)
        return probe

    return declare


def _judge_problem(judge: object) -> str:
    """Return why a judge cannot be used: it is no judge, or its name without its parentheses."""
    if isinstance(judge, type):
        return f"judge is the class {judge.__name__}, expected {judge.__name__}() with its parentheses"
    if judge is None or isinstance(judge, Same | Like | Raises | Dropout) or callable(judge):
        return ""
    return f"judge is {judge!r}, expected a judge like Same() or Raises(), or a function (yours, expected)"


def picture(title: str, *, rows: str = "", columns: str = "") -> Callable[[Probe], Probe]:
    """Declare the function `picture_ID(impl, given)` as the probe of a picture; `title` states what it shows."""
    if len(title) > LONGEST_TITLE:
        raise DeclarationError(
            f"picture {title!r}: the title has {len(title)} characters, expected at most {LONGEST_TITLE}"
        )

    def declare(probe: Probe) -> Probe:
        name = probe.__name__
        if not name.startswith(PICTURE_PREFIX):
            raise DeclarationError(f"the probe {name} must be named {PICTURE_PREFIX}{name}, because it makes a picture")
        declared = Drawing(name.removeprefix(PICTURE_PREFIX), title, probe, rows, columns)
        probe.__picture__ = declared  # type: ignore[attr-defined]
        _announce(probe)
        return probe

    return declare


def step(title: str, paper: str, *, inside: bool = False) -> Callable[[Probe], Probe]:
    """Declare the function `step_ID(impl, given)` as the probe of a step; `paper` has the numbers of the lesson."""
    if len(title) > LONGEST_STEP:
        raise DeclarationError(
            f"step {title!r}: the title has {len(title)} characters, expected at most {LONGEST_STEP}"
        )
    if not paper.split():
        raise DeclarationError(f"step {title!r} has no numbers on paper")

    def declare(probe: Probe) -> Probe:
        name = probe.__name__
        if not name.startswith(STEP_PREFIX):
            raise DeclarationError(f"the probe {name} must be named {STEP_PREFIX}{name}, because it is a step")
        declared = Step(name.removeprefix(STEP_PREFIX), title, probe, paper, inside)
        probe.__step__ = declared  # type: ignore[attr-defined]
        _announce(probe)
        return probe

    return declare


def _announce(probe: Any) -> None:
    """Note a probe among the names of the file that declares it: `__names__` of a standard check's probe."""
    getattr(probe, "__names__", probe.__globals__).setdefault(DECLARED, []).append(probe)


def declaration_problems(module: ModuleType) -> list[str]:
    """Return a sentence for each probe of a file that another name replaces, and for each function that is no probe."""
    named = vars(module)
    probes = named.get(DECLARED, [])
    kept = {id(value) for value in named.values()}
    problems = [_loss_of(probe, named.get(probe.__name__)) for probe in probes if id(probe) not in kept]
    for name, mark in ((PREFIX, "check"), (PICTURE_PREFIX, "picture"), (STEP_PREFIX, "step")):
        for function in named.values():
            is_own = isinstance(function, FunctionType) and function.__module__ == module.__name__
            if is_own and function.__name__.startswith(name) and not hasattr(function, f"__{mark}__"):
                line, own = function.__code__.co_firstlineno, function.__name__
                problems.append(f"{own} (line {line}) is no {mark}: write @{mark}(...) above it, or rename it")
    return problems


def _loss_of(probe: Any, other: Any) -> str:
    """Return what happens to a probe whose name another one has, or that has none."""
    if isinstance(other, FunctionType):
        lines = f"lines {_line_of(probe)} and {_line_of(other)}"
        return f"two functions are named {probe.__name__} ({lines}), so the first is lost; rename one of them"
    remedy = f"give it a name that no other one has, like {probe.__name__}_2 = ..."
    return f"the check {probe.__name__.removeprefix(PREFIX)} (line {_line_of(probe)}) is lost; {remedy}"


def _line_of(probe: Any) -> int:
    declared = getattr(probe, "__check__", None)
    return declared.line if declared is not None else int(probe.__code__.co_firstlineno)


def checks_in(module: ModuleType) -> list[Check]:
    """Return the checks a module declares, in the order it declares them."""
    marks = (getattr(value, "__check__", None) for value in vars(module).values())
    return [check for check in marks if isinstance(check, Check)]


def counted_checks(checks: Sequence[Check], passing: Collection[str]) -> frozenset[str]:
    """Return which of the passing checks count: those that require nothing, or a check that counts itself."""
    counted: set[str] = set()
    while (
        more := {
            check.id
            for check in checks
            if check.id in passing and (not check.requires_any or counted & set(check.requires_any))
        }
        - counted
    ):
        counted |= more
    return frozenset(counted)


def pictures_in(module: ModuleType) -> list[Drawing]:
    """Return the pictures a module declares, in the order it declares them."""
    marks = (getattr(value, "__picture__", None) for value in vars(module).values())
    return [picture for picture in marks if isinstance(picture, Drawing)]


def steps_in(module: ModuleType) -> list[Step]:
    """Return the steps a module declares, in the order it declares them."""
    marks = (getattr(value, "__step__", None) for value in vars(module).values())
    return [step for step in marks if isinstance(step, Step)]
