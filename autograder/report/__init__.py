"""The report: everything about one submission, and its renderings."""

from autograder.report.model import CheckResult, Evidence, ExerciseResult, Finding, Place, Report, Status

__all__ = ["CheckResult", "Evidence", "ExerciseResult", "Finding", "Place", "Report", "Status"]
