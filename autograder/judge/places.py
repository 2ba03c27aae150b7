"""Places that the syntax of a file gives: where a checked value is returned, and where its part is defined."""

from autograder.checks import Check
from autograder.results import Place
from autograder.runner.outcomes import Survey


def return_line(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return where the checked value leaves the student's code: its one return; None where there are several."""
    if survey is None or check.of is None:
        return None
    lines = survey.places.get(check.of, ())
    forward = f"{check.of}.forward"
    function = forward if forward in survey.places else check.of
    return Place(file, lines[1], function) if len(lines) == 2 else None


def definition(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return where the checked class or function is made: its `__init__`, else its own first line."""
    if survey is None or check.of is None:
        return None
    init = f"{check.of}.__init__"
    lines = survey.places.get(init) or survey.places.get(check.of)
    return Place(file, lines[0], init if init in survey.places else check.of) if lines else None
