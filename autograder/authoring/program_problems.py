"""What a program of a course should not have got: a right one a failure, a wrong one a pass or another name."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from autograder.answer_key.outcomes import Outcomes
from autograder.authoring.programs import Program
from autograder.checks import Check
from autograder.checks.trials import Key
from autograder.comparison.compare import Expected, passes
from autograder.course.section import shortened
from autograder.judge.steps import StepResult
from autograder.messages.steps import Grid
from autograder.results import CheckResult, ExerciseResult
from autograder.runner.outcomes import Observed, Outcome

MOST_ROWS = 3
"""More rows of a worked example that differ have one cause, mostly."""

RIGHT = {"solution": "the solution", "accepted": "the accepted variant {}"}


@np.errstate(all="ignore")
def twins_of(program: Program, outcomes: Outcomes, checks: Sequence[Check], check: str) -> list[str]:
    """Return the other misconceptions that give a check the same results as one that fails it."""
    declared = next(known for known in checks if known.id == check)
    own = outcomes[program.name]
    others = {name: wrong for name, wrong in outcomes.items() if name != program.name}
    return [name for name, wrong in others.items() if _are_equal(declared, own, wrong)]


def _are_equal(check: Check, own: Mapping[Key, Outcome], other: Mapping[Key, Outcome]) -> bool:
    """Whether two programs give a check the same wrong results, as far as its judge tells them apart."""
    for trial in range(check.trials):
        one, another = own.get((check.id, trial)), other.get((check.id, trial))
        if isinstance(one, Observed) and isinstance(another, Observed):
            if not passes(one, Expected(another.value, another.value), check.judge):
                return False
        elif one != another:
            return False
    return True


def _unnamed(program: Program, check: CheckResult, twins: Sequence[str]) -> str:
    """Return why a check does not name a misconception that fails it."""
    fails = f"the misconception {program.name} fails the check {check.id}"
    if twins:
        same = f"{', '.join(twins)} {'gives' if len(twins) == 1 else 'give'} it the same result"
        return f"{fails} without a name, as {same}: observe more in it, or name each in the other's same_as"
    return f"{fails} without a name; a student would read: {check.finding.message if check.finding else check.status}"


def unequal_step(step: StepResult) -> str:
    """Return what a right program gives in a step of the worked example, and what is on paper."""
    message = step.finding.message if step.finding is not None else ""
    if step.yours is None:
        return f"the step {step.id}: {message}"
    if len(step.yours) != len(step.paper):
        pairs = [(step.yours, step.paper)]
    else:
        rows = zip(step.yours, step.paper, strict=True)
        pairs = [((yours,), (paper,)) for yours, paper in rows if yours != paper]
    values = "; ".join(f"it gives {_line(yours)}, on paper it is {_line(paper)}" for yours, paper in pairs[:MOST_ROWS])
    return f"the step {step.id}: {message} {values[:1].upper()}{values[1:]}"


def _line(rows: Grid) -> str:
    return shortened("; ".join(" ".join(row) for row in rows))


def unexpected(
    program: Program, result: ExerciseResult, twins: Callable[[str], Sequence[str]], *, may_be_unknown: bool
) -> Iterable[str]:
    """Yield a sentence for everything that a program should not have got.

    `twins` returns the misconceptions that give a check equal results; it is called only for one without a name.

    On another device than the CPU a misconception `may_be_unknown`: a tensor left on the CPU fails every check alike.
    """
    failed = [
        check for check in result.checks if check.status not in ("pass", "waits")
    ]  # a check waits only for one that fails
    if program.kind == "stub":
        if result.status != "not_started" or result.score:
            yield f"the stub is {result.status} with {result.score / 100:g} points, expected not_started with 0"
    elif program.kind == "misconception":
        if not failed:
            hint = "make one stricter, or remove the misconception"
            yield f"the misconception {program.name} passes every check; {hint}"
        for check in failed:
            named = check.finding.id if check.finding and check.finding.known_as else None
            if named is None and not may_be_unknown:
                yield _unnamed(program, check, twins(check.id))
            elif named not in (program.name, *program.same_as, None):
                yield f"the check {check.id} takes the misconception {program.name} for {named}"
    else:
        names = {**RIGHT, "reference parts": "the solution, with reference parts for the exercises it needs,"}
        what = names[program.kind].format(program.name)
        for check in failed:
            reason = f"{check.finding.message} {check.finding.detail or ''}" if check.finding else check.status
            yield f"{what} fails the check {check.id}: {reason}"
