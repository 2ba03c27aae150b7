"""Makes the result of an exercise of its judgement: the last step, in which findings are put into words."""

from collections.abc import Mapping
from dataclasses import replace

from autograder.diagnosis.cells import place_in
from autograder.diagnosis.diagnosis import Location
from autograder.diagnosis.findings import Source, finding_of
from autograder.diagnosis.judgement import Judgement, Verdict
from autograder.judge.prints import outputs_of
from autograder.messages.exceptions import NoneGiven, SignatureWrong, StructureWrong
from autograder.results import CheckResult, ExerciseResult
from autograder.results.model import first_failing
from autograder.submission.notebook import Cells

COMPLETE = (NoneGiven, SignatureWrong, StructureWrong)
"""Facts about names and calls: their sentence says what to change, and a check's hints are about its numbers."""


def result_of(
    judgement: Judgement,
    locations: Mapping[str, Location] | None = None,
    cells: Mapping[str, Cells] | None = None,
) -> ExerciseResult:
    """Return the complete result, with the location of each check's mistake where it was found.

    `cells` say of each file that was made of a notebook where its lines come from.
    """
    exercise, trials = judgement.exercise, judgement.trials
    survey, data = (trials.survey, trials.source) if trials is not None else (None, b"")
    functions = frozenset(part for name in (survey.places if survey else ()) for part in name.split("."))
    source = Source(exercise.file, data, functions, cells or {})
    located = locations or {}
    checks = tuple(_check(judgement, verdict, source, located.get(verdict.check.id)) for verdict in judgement.verdicts)
    return ExerciseResult(
        exercise.id,
        exercise.title,
        judgement.status,
        judgement.score,
        sum(verdict.max_score for verdict in judgement.verdicts),
        checks,
        "stand-in" if judgement.stood_in else "own",
        judgement.stood_in,
        prints=outputs_of(judgement.prints, first.id if (first := first_failing(checks)) else None),
        todos=tuple(
            replace(todo, place=place_in(source.cells, todo.place)) for todo in (trials.todos if trials else ())
        ),
        helpers=survey.helpers if survey is not None else (),
    )


def _check(judgement: Judgement, verdict: Verdict, source: Source, location: Location | None) -> CheckResult:
    finding = finding_of(verdict.diagnosis, source, location) if verdict.diagnosis is not None else None
    return CheckResult(
        verdict.check.id,
        verdict.check.title,
        verdict.status,
        verdict.score,
        verdict.max_score,
        round(verdict.seconds, 6),
        finding,
        _hints(judgement, verdict, location),
        verdict.bonus,
        verdict.output,
    )


def _hints(judgement: Judgement, verdict: Verdict, location: Location | None) -> tuple[str, ...]:
    """Return the hints of a check that fails, where they fit; a misconception has its own first one."""
    diagnosis = verdict.diagnosis
    hints = judgement.exercise.hints.get(verdict.check.id, verdict.check.hints)
    known = diagnosis.misconception if diagnosis is not None else None
    known = known or (location.first_mistake if location is not None else None)
    if known is not None:
        return (known.hint, *hints[1:])
    is_complete = diagnosis is not None and (diagnosis.kind == "forbidden" or isinstance(diagnosis.fact, COMPLETE))
    return hints if verdict.status == "fail" and not is_complete else ()
