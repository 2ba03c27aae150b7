"""The results of a submission as data, and as the JSON of a report."""

from autograder.results.model import (
    CheckResult,
    Evidence,
    ExerciseResult,
    Finding,
    Place,
    PrintOutput,
    Report,
    Status,
    Todo,
)

__all__ = ["CheckResult", "Evidence", "ExerciseResult", "Finding", "Place", "PrintOutput", "Report", "Status", "Todo"]
