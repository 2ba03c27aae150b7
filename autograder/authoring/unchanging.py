"""Checks that prove nothing: their result does not change with the seed, or not with the input of a standard check."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autograder.checks import Check
from autograder.checks.probe_code import reads_clock
from autograder.checks.trials import Key
from autograder.comparison.compare import Expected, passes
from autograder.course import Course, Exercise
from autograder.course.suite import Suite
from autograder.protocol import Array, Value
from autograder.runner.outcomes import Observed, Outcome
from autograder.runner.runner import Runner

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
            plan = {exercise.id: [(check.id, trial) for check in asked for trial in range(check.trials)]}
            found = []
            for runner.seed in seeds:
                found.append(runner.run(sources, plan).outcomes.get(exercise.id, {}))
            right, *others = found
            known = set.intersection(*(alike(asked, right, other) for other in others))
            if not alone(checks, known):
                return
    finally:
        runner.suite, runner.seed = own, seed
    for id_ in [check.id for check in checks if check.id in alone(checks, known) and not check.empty]:
        yield (
            f"the check {id_} has the same result under every seed, so a program can know it: draw its input from "
            "`given` (sizes alone are no input), return numbers in place of a conclusion such as True, or name checks "
            "that do so in requires_any"
        )


def reading_clocks(checks: Sequence[Check]) -> Iterator[str]:
    """Yield a sentence for each check whose code reads a clock, or what else differs from run to run."""
    for check in checks:
        if reads_clock(check.probe):
            yield (
                f"the check {check.id} reads a clock or another source that no seed sets: its result must not depend "
                "on it, because a kit compares with results from another day"
            )


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


def _device_of(value: Mapping[str, Value]) -> str:
    output = value.get("output")
    moved = output[0] if isinstance(output, list) and output else None
    return moved.device if isinstance(moved, Array) else ""
