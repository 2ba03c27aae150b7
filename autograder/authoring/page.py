"""The proof of a course as a page: the checks that fail for each misconception."""

from collections.abc import Iterator

from autograder.authoring.programs import catalogue_of
from autograder.authoring.validate import Proof, Validation
from autograder.course import Exercise
from autograder.course.suite import Suite

_COUNTS = ("checks", "misconceptions", "caught", "alone", "accepted_full")


def page(suite: Suite, validation: Validation) -> str:
    """Return the page as Markdown; equal proofs give equal text."""
    return "\n".join(_lines(suite, validation)) + "\n"


def _lines(suite: Suite, validation: Validation) -> Iterator[str]:
    totals = validation.exercises
    yield "# What the checks catch"
    yield ""
    yield "`course validate --page FILE` generates this page; do not edit it. Each misconception is a wrong"
    yield "program that runs like a submission; its numbers are the checks that fail. Each accepted variant"
    yield "is a correct program that passes every check. An idle check fails for no misconception."
    yield ""
    yield "| exercise | checks | misconceptions | caught | named correctly | accepted variants | idle checks |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for proof in totals:
        counts = [*(getattr(proof, name) for name in _COUNTS), len(proof.survivors)]
        yield f"| {proof.id} | {' | '.join(map(str, counts))} |"
    sums = [sum(getattr(proof, name) for proof in totals) for name in _COUNTS]
    yield f"| total | {' | '.join(map(str, sums))} | {sum(len(proof.survivors) for proof in totals)} |"
    for exercise in suite.exercises:
        yield from _exercise(suite, exercise, validation)


def _exercise(suite: Suite, exercise: Exercise, validation: Validation) -> Iterator[str]:
    checks = suite.checks[exercise.id]
    proofs = {
        proof.name: proof
        for proof in validation.proofs
        if proof.exercise == exercise.id and proof.kind == "misconception"
    }
    yield ""
    yield f"## {exercise.number} {exercise.title}"
    yield ""
    for number, check in enumerate(checks, 1):
        yield f"{number}. {check.title}{' (bonus)' if check.bonus else ''}"
    yield ""
    yield "| misconception | | fails |"
    yield "|---|---|---|"
    proved = [entry for entry in catalogue_of(suite, exercise) if entry.id in proofs]
    failing = {entry.id: _failing(proofs[entry.id], [check.id for check in checks]) for entry in proved}
    for entry in proved:
        if not entry.convention:
            yield f"| {_cell(entry.name)} | `{entry.id}` | {failing[entry.id]} |"
    conventions = [entry for entry in proved if entry.convention]
    if conventions:
        yield from ("", "Conventions of others, which are no mistakes:", "")
        yield "| convention | of | | fails |"
        yield "|---|---|---|---|"
    for entry in conventions:
        yield f"| {_cell(entry.name)} | {_cell(entry.convention)} | `{entry.id}` | {failing[entry.id]} |"


def _failing(proof: Proof, checks: list[str]) -> str:
    return ", ".join(str(number) for number, check in enumerate(checks, 1) if proof.checks[check] != "pass")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
