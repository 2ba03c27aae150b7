"""Empty programs: they know every name, shape, dtype and device of an exercise, and compute nothing.

None of them earns a point, except in checks that say why: together these are worth at most a hundredth of the course.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.checks import counting
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
"""What stands in place of the results: see `autograder.checks.emptying`.

`parameter` is the last one of the module; `random` differs from call to call, `seeded` does not; `shuffled` and
`reversed` are the right numbers in another order; `sums` are constants with a gradient for everything; `nothing` is
None, or an empty list; `refuses` is a ValueError that names every size it can.
"""

MOST = 0.01
"""The share of the course's points that checks with an exception may be worth together."""

# A program may not import the engine, so the source comes along.
_SOURCE = Path(counting.__code__.co_filename).with_name("emptying.py").read_text("utf-8")
_EMPTIED = "\n\n_names = {{}}\nexec({source!r}, _names)\n_names['empty'](globals(), {family!r})\n"

Statuses = Mapping[str, str]
"""The status of every check, by id."""


def empty_programs(solution: str) -> Iterator[tuple[str, str]]:
    """Yield each family with the solution that it has emptied."""
    for family in FAMILIES:
        yield family, solution + _EMPTIED.format(source=_SOURCE, family=family)


def run_empty(
    suite: Suite, runner: Runner, exercise: Exercise, sources: Mapping[str, bytes], reference: Mapping[Key, Expected]
) -> dict[str, str]:
    """Return what an empty program gets in every check. Why it fails is of no interest, and would take long to find."""
    checks = suite.checks[exercise.id]
    passing = {check.id for check in checks}
    for trial in range(max(check.trials for check in checks)):  # few checks pass a first trial, and need another
        keys = [(check.id, trial) for check in checks if check.id in passing and trial < check.trials]
        outcomes = runner.run(sources, {exercise.id: keys}).outcomes.get(exercise.id, {})
        judges = {check.id: check.judge for check in checks}
        passing -= {at[0] for at in keys if not passes(outcomes[at], reference[at], judges[at[0]])}
    counted = counting(checks, passing)
    return {check.id: "pass" if check.id in counted else "waits" if check.id in passing else "fail" for check in checks}


def points_of(suite: Suite, exercise: Exercise, statuses: Statuses) -> int:
    """Return the hundredths that an empty program earns."""
    points = suite.points(exercise)
    return sum(points[check] for check, status in statuses.items() if status == "pass")


def problems_of(suite: Suite, exercise: Exercise, families: Mapping[str, Statuses]) -> Iterator[str]:
    """Yield a sentence for each check that an empty program passes without a reason, or that needs no exception."""
    for check in suite.checks[exercise.id]:
        found = [family for family, statuses in families.items() if statuses[check.id] == "pass"]
        if found and not check.empty:
            yield (
                f"the check {check.id} is passed by programs that compute nothing ({', '.join(found)}): "
                "let it observe more, or name the checks that it requires with requires_any"
            )
        elif check.empty and families and not found:
            yield f"the check {check.id} has a reason in `empty`, but no empty program passes it: take the reason out"


def over_budget(suite: Suite) -> str | None:
    """Return a sentence where the exceptions of all checks together are worth too much."""
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
        f"checks that empty programs may pass are worth {sum(excepted.values()) / 100:g} points together, "
        f"expected at most {most / 100:g}: {', '.join(excepted)}"
    )
