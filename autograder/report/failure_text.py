"""A failure in a few lines of plain text, for the reports of other programs: pytest, JUnit, Gradescope, nbgrader."""

from autograder.report.failure_view import FailureView


def failure_text(view: FailureView) -> str:
    """Return the message, what explains it, and the location, each on lines of its own."""
    return "\n".join(filter(None, (view.message, *map(str.strip, view.explanation), _location(view))))


def _location(view: FailureView) -> str:
    location = view.location
    if location is None:
        return ""
    code = location.wrong.text.strip() if location.wrong else ""
    where = ", ".join(filter(None, (f"{location.file}{location.address}", location.description)))
    return f"{where}: {code}" if code else where
