"""The outcomes of misconceptions in full, and their form as a plain value.

`course validate` judges them as it judges a student's; a key has only sketches of them.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from autograder.checks.trials import Key
from autograder.protocol import Value
from autograder.runner.outcomes import Observed, Outcome, WorkerFailure, read_fault

Outcomes = Mapping[str, Mapping[Key, Outcome]]
"""By the id of a misconception, its outcomes that are wrong."""


def to_record(outcomes: Outcomes) -> Value:
    """Return outcomes as a plain value."""
    return {id_: [[*at, _outcome(outcome)] for at, outcome in own.items()] for id_, own in outcomes.items()}


def from_record(record: Any) -> Outcomes:
    """Return the outcomes a plain value was made from; raises LookupError, TypeError or ValueError for another one."""
    return {
        id_: {(check, trial): _read_outcome(outcome) for check, trial, outcome in own} for id_, own in record.items()
    }


def _outcome(outcome: Outcome) -> Value:
    match outcome:
        case Observed(value):
            return {"observed": value}
        case WorkerFailure(status, sentence):
            return {"died": [status, sentence]}
    fault = asdict(outcome)
    return {"fault": {**fault, "bases": list(outcome.bases), "frames": list(fault["frames"]), "values": []}}


def _read_outcome(record: Mapping[str, Any]) -> Outcome:
    if "observed" in record:
        return Observed(record["observed"])
    if "died" in record:
        return WorkerFailure(*record["died"])
    return read_fault(record["fault"], at_import=record["fault"]["at_import"])
