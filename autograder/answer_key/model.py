"""The answer key of an exercise, and its form as a plain value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autograder.checks.trials import Key
from autograder.comparison.compare import Expected
from autograder.protocol import Value
from autograder.runner.outcomes import Observed, Outcome, WorkerFailure, read_fault


@dataclass(frozen=True)
class Misconception:
    """A misconception with its outcomes, only those that are wrong, and the hashes of the statements it is made of.

    `owners` has the hashes of the names of the functions and classes that it changes.
    """

    id: str
    name: str
    explanation: str
    hint: str
    same_as: tuple[str, ...]
    outcomes: Mapping[Key, Outcome]
    marks: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerKey:
    """What is expected of an exercise, and what known wrong programs give instead."""

    reference: Mapping[Key, Expected]
    misconceptions: tuple[Misconception, ...]


def to_record(key: AnswerKey) -> Value:
    """Return a key as a plain value."""
    return {
        "reference": [[*at, expected.nominal, expected.exact] for at, expected in key.reference.items()],
        "bank": [
            {
                "id": entry.id,
                "name": entry.name,
                "explanation": entry.explanation,
                "hint": entry.hint,
                "same_as": list(entry.same_as),
                "marks": list(entry.marks),
                "owners": list(entry.owners),
                "outcomes": [[*at, _outcome(outcome)] for at, outcome in entry.outcomes.items()],
            }
            for entry in key.misconceptions
        ],
    }


def from_record(record: Any) -> AnswerKey:
    """Return the key a plain value was made from; raises KeyError, TypeError or ValueError for another one."""
    return AnswerKey(
        {(check, trial): Expected(nominal, exact) for check, trial, nominal, exact in record["reference"]},
        tuple(
            Misconception(
                entry["id"],
                entry["name"],
                entry["explanation"],
                entry["hint"],
                tuple(entry["same_as"]),
                _outcomes(entry["outcomes"]),
                tuple(entry["marks"]),
                tuple(entry["owners"]),
            )
            for entry in record["bank"]
        ),
    )


def _outcome(outcome: Outcome) -> Value:
    match outcome:
        case Observed(value):
            return {"observed": value}
        case WorkerFailure(status, sentence):
            return {"died": [status, sentence]}
    fault = asdict(outcome)
    return {"fault": {**fault, "bases": list(outcome.bases), "frames": list(fault["frames"]), "values": []}}


def _outcomes(records: Any) -> Mapping[Key, Outcome]:
    return {(check, trial): _read_outcome(record) for check, trial, record in records}


def _read_outcome(record: Mapping[str, Any]) -> Outcome:
    if "observed" in record:
        return Observed(record["observed"])
    if "died" in record:
        return WorkerFailure(*record["died"])
    return read_fault(record["fault"], at_import=record["fault"]["at_import"])
