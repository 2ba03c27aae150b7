"""Makes the result of an exercise of its judgement: the last step, in which findings are put into words.

The words are imported where there is a finding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.diagnosis.cells import place_in
from autograder.diagnosis.judgement import Judgement, Verdict
from autograder.judge.prints import outputs_of
from autograder.results import CheckResult, ExerciseResult, Finding
from autograder.results.first_failure import first_failing
from autograder.submission.notebook import Cells

if TYPE_CHECKING:
    from autograder.diagnosis.diagnosis import Diagnosis, Location


def result_of(
    judgement: Judgement,
    locations: Mapping[str, "Location"] | None = None,
    cells: Mapping[str, Cells] | None = None,
) -> ExerciseResult:
    """Return the complete result, with the location of each check's mistake where it was found.

    `cells` say of each file that was made of a notebook where its lines come from.
    """
    exercise, trials = judgement.exercise, judgement.trials
    survey = trials.survey if trials is not None else None
    located, found = locations or {}, _findings(judgement, locations or {}, cells or {})
    checks = tuple(
        _check(judgement, verdict, found.get(verdict.check.id), located.get(verdict.check.id))
        for verdict in judgement.verdicts
    )
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
            replace(todo, place=place_in(cells or {}, todo.place)) for todo in (trials.todos if trials else ())
        ),
        helpers=survey.helpers if survey is not None else (),
    )


def with_left_out(result: ExerciseResult, sentences: Sequence[str]) -> ExerciseResult:
    """Return a result in which every finding about a missing name says what of the file was left out."""
    detail = " ".join(f"{sentence}." for sentence in sentences)
    checks = tuple(
        replace(check, finding=replace(check.finding, detail=detail))
        if check.finding is not None and check.finding.id == "structure"
        else check
        for check in result.checks
    )
    return replace(result, checks=checks)


def _findings(
    judgement: Judgement, located: "Mapping[str, Location]", cells: Mapping[str, Cells]
) -> Mapping[str, Finding]:
    """Return the finding of each check that has a diagnosis."""
    diagnoses = {verdict.check.id: verdict.diagnosis for verdict in judgement.verdicts if verdict.diagnosis is not None}
    if not diagnoses:
        return {}
    from autograder.diagnosis.findings import Source, finding_of

    trials = judgement.trials
    survey, data = (trials.survey, trials.source) if trials is not None else (None, b"")
    functions = frozenset(part for name in (survey.places if survey else ()) for part in name.split("."))
    source = Source(judgement.exercise.file, data, functions, cells)
    return {check: finding_of(diagnosis, source, located.get(check)) for check, diagnosis in diagnoses.items()}


def _check(judgement: Judgement, verdict: Verdict, finding: Finding | None, location: "Location | None") -> CheckResult:
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
        verdict.of,
    )


def _hints(judgement: Judgement, verdict: Verdict, location: "Location | None") -> tuple[str, ...]:
    """Return the hints of a check that fails, where they fit; a misconception has its own first one."""
    diagnosis = verdict.diagnosis
    hints = judgement.exercise.hints.get(verdict.check.id, verdict.check.hints)
    known = diagnosis.misconception if diagnosis is not None else None
    known = known or (location.first_mistake if location is not None else None)
    if known is not None:
        return (known.hint, *hints[1:])
    return hints if verdict.status == "fail" and not _is_complete(diagnosis) else ()


def _is_complete(diagnosis: "Diagnosis | None") -> bool:
    """Whether the sentence about names and calls says what to change: a check's hints are about its numbers."""
    from autograder.messages import exceptions as facts

    complete = (
        facts.AttributeLacking,
        facts.CountReturned,
        facts.NoneGiven,
        facts.SignatureWrong,
        facts.StructureWrong,
    )
    return diagnosis is not None and (diagnosis.kind == "forbidden" or isinstance(diagnosis.fact, complete))
