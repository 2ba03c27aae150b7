"""The mutants of an exercise as data, for `course mutate --json`."""

from dataclasses import asdict
from typing import Any

from autograder.authoring.mutation.running import ExerciseMutants, Survivor


def to_json(result: ExerciseMutants) -> dict[str, Any]:
    """Return the result of an exercise as data."""

    def survivor(found: Survivor) -> dict[str, Any]:
        mutant = {name: value for name, value in asdict(found.mutant).items() if name != "source"}
        return {**mutant, "witness": asdict(found.witness) if found.witness else None}

    names = ("mutants", "left", "caught", "equivalent", "problems", "ok")
    return {
        "id": result.exercise.id,
        **{name: getattr(result, name) for name in names},
        "survivors": [survivor(found) for found in result.survivors],
        "doubtful": [survivor(found) for found in result.doubtful],
    }
