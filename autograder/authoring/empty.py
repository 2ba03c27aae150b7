"""Empty programs: they have every name, shape, dtype and device of an exercise, but compute nothing.

They earn no points, except in checks that give a reason. Those checks together are worth at most 1 % of the course.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from autograder.checks import counted_checks
from autograder.checks.trials import Key
from autograder.comparison.compare import Expected, passes
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.runner.runner import Runner

FAMILIES = (
    *("zeros", "ones", "constant", "nan", "infinity"),
    *("nan but 1", "nan but 2", "nan but a row", "zeros but 2"),
    *(
        "first input",
        "last input",
        "parameter",
        "random",
        "seeded",
        "shuffled",
        "reversed",
        "sums",
        "nothing",
        "refuses",
    ),
)
"""What replaces the results; see `autograder.checks.empty_programs`.

`parameter` is the last one of the module. `random` differs in each call, `seeded` does not. `shuffled` and `reversed`
are the right numbers in another order. `sums` are constants with gradients for everything. `nothing` is None or an
empty list. `refuses` raises a ValueError that names every size it can.
"""

MOST = 0.01
"""The largest share of the course's points for all checks that empty programs may pass."""

_FOLDER = Path(counted_checks.__code__.co_filename).parent
_EMPTIED = "\n\n_names = {{}}\nexec({source!r}, _names)\n_names['empty'](globals(), {family!r})\n"

_OWN_IMPORT = re.compile(r"^from autograder\..*\n", re.MULTILINE)

Statuses = Mapping[str, str]
"""The status of every check, by id."""


def empty_programs(solution: str, *, with_tensors: bool) -> Iterator[tuple[str, str]]:
    """Yield each family with the emptied solution."""
    source = _source(with_tensors=with_tensors)
    for family in FAMILIES:
        yield family, solution + _EMPTIED.format(source=source, family=family)


@cache
def _source(*, with_tensors: bool) -> str:
    """Return what empties a program. A program cannot import the engine, so this is part of it."""
    text = (_FOLDER / "empty_programs.py").read_text("utf-8")
    if with_tensors:
        more = (_FOLDER / "empty_tensors.py").read_text("utf-8")
        text += _OWN_IMPORT.sub("", more).replace("empty_programs.EMPTYING", "EMPTYING")
    return text


def run_empty(
    suite: Suite, runner: Runner, exercise: Exercise, sources: Mapping[str, bytes], reference: Mapping[Key, Expected]
) -> dict[str, str]:
    """Return the status of each check for an empty program; findings are not computed, since they take long."""
    checks = suite.checks[exercise.id]
    passing = {check.id for check in checks}
    for trial in range(max(check.trials for check in checks)):  # only checks that pass a trial need the next one
        keys = [(check.id, trial) for check in checks if check.id in passing and trial < check.trials]
        outcomes = runner.run(sources, {exercise.id: keys}, trusted=True).outcomes.get(exercise.id, {})
        judges = {check.id: check.judge for check in checks}
        passing -= {at[0] for at in keys if not passes(outcomes[at], reference[at], judges[at[0]])}
    counted = counted_checks(checks, passing)
    return {check.id: "pass" if check.id in counted else "waits" if check.id in passing else "fail" for check in checks}


def points_of(suite: Suite, exercise: Exercise, statuses: Statuses) -> int:
    """Return the points that an empty program earns, in hundredths."""
    points = suite.points(exercise)
    return sum(points[check] for check, status in statuses.items() if status == "pass")


def problems_of(suite: Suite, exercise: Exercise, families: Mapping[str, Statuses]) -> Iterator[str]:
    """Yield a sentence for each check that an empty program passes without a reason, or with a needless one."""
    for check in suite.checks[exercise.id]:
        passing = [family for family, statuses in families.items() if statuses[check.id] == "pass"]
        if passing and not check.empty:
            yield (
                f"the check {check.id} is passed by programs that compute nothing ({', '.join(passing)}): "
                "observe more in it, or name the checks that it requires with requires_any"
            )
        elif check.empty and families and not passing:
            yield f"the check {check.id} has a reason in `empty`, but no empty program passes it: remove the reason"


def over_budget(suite: Suite) -> str | None:
    """Return a sentence if all checks that empty programs may pass are together worth too much."""
    excepted = {
        f"{exercise.id}/{check.id}": suite.points(exercise)[check.id]
        for exercise in suite.exercises
        for check in suite.checks[exercise.id]
        if check.empty
    }
    most = MOST * sum(exercise.points for exercise in suite.course.exercises)
    if sum(excepted.values()) <= most:
        return None
    return (
        f"the checks that empty programs may pass are together worth {sum(excepted.values()) / 100:g} points, "
        f"expected at most {most / 100:g}: {', '.join(excepted)}"
    )
