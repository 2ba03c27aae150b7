"""`@check`: one graded behaviour, as a probe with a title, a share of the points and a judge. `@picture`: what a
finished part does, to be looked at."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from autograder.checks.judges import Judge, Same

Probe = Callable[[Any, Any], Any]
"""Runs on an implementation with what is given, and returns an observation."""

PREFIX = "test_"
PICTURE_PREFIX = "picture_"

LONGEST_TITLE = 76
"""So many characters of a picture's title fit into a terminal of the usual width."""


@dataclass(frozen=True)
class Check:
    """One graded behaviour of an exercise.

    `points` is its share of the exercise's points; `of` names the function or the class its value comes from,
    for the place of a finding; `trials` is how often it runs, each time on inputs of other sizes. A `bonus` check
    adds to the score and is not needed for full marks. With `requires_any` it counts only where at least one of these
    checks passes, so that a program that computes nothing earns nothing. `empty` says why an empty program passes it
    all the same.
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


@dataclass(frozen=True)
class Drawing:
    """A picture of what a finished implementation does: worth no points, and drawn for who passes a self-check.

    Its probe returns a tensor of two axes, or a tuple of one with labels of its rows and labels of its columns, which
    may be empty. `rows` and `columns` say in a word what the axes are.
    """

    id: str
    title: str
    probe: Probe
    rows: str
    columns: str


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
    """Declare the function `test_ID(impl, given)` as the probe of a check; `title` says what it claims."""
    if points <= 0 or trials < 1:
        raise ValueError(f"check {title!r}: points and trials must be positive, found {points} and {trials}")
    if isinstance(requires_any, str):
        raise ValueError(f"check {title!r}: requires_any is the text {requires_any!r}, expected a tuple of checks")

    def declare(probe: Probe) -> Probe:
        name = probe.__name__
        if not name.startswith(PREFIX):
            raise ValueError(f"the probe {name} must be called {PREFIX}{name}, so that pytest finds it")
        id_, needed = name.removeprefix(PREFIX), tuple(requires_any)
        declared = Check(id_, title, probe, points, judge or Same(), of, trials, bonus, needed, empty)
        probe.__check__ = declared  # type: ignore[attr-defined]
        return probe

    return declare


def picture(title: str, *, rows: str = "", columns: str = "") -> Callable[[Probe], Probe]:
    """Declare the function `picture_ID(impl, given)` as the probe of a picture; `title` says what is to be seen."""
    if len(title) > LONGEST_TITLE:
        raise ValueError(f"picture {title!r}: the title has {len(title)} characters, expected at most {LONGEST_TITLE}")

    def declare(probe: Probe) -> Probe:
        name = probe.__name__
        if not name.startswith(PICTURE_PREFIX):
            raise ValueError(f"the probe {name} must be called {PICTURE_PREFIX}{name}, as it makes a picture")
        declared = Drawing(name.removeprefix(PICTURE_PREFIX), title, probe, rows, columns)
        probe.__picture__ = declared  # type: ignore[attr-defined]
        return probe

    return declare


def checks_in(module: ModuleType) -> list[Check]:
    """Return the checks a module declares, in the order it declares them."""
    found = [getattr(value, "__check__", None) for value in vars(module).values()]
    return [each for each in found if isinstance(each, Check)]


def counting(checks: Sequence[Check], passing: Collection[str]) -> frozenset[str]:
    """Return which of the passing checks count: those that require nothing, or one that counts itself."""
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
    found = [getattr(value, "__picture__", None) for value in vars(module).values()]
    return [each for each in found if isinstance(each, Drawing)]
