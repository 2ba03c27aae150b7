"""What is told about a check where there is room for plain text, and where in the course a check is written."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course import Course
from autograder.instructor.gradebook.graded import Mark
from autograder.report.printable import one_line
from autograder.report.words import STATES, checks_pass, explanation, function, message_of, points_of
from autograder.results import CheckResult, ExerciseResult


@dataclass(frozen=True)
class Written:
    """Where a check is written, from the root of the course, and its code."""

    file: str
    line: int
    code: str


def written_checks(course: Course) -> Mapping[tuple[str, str], Written]:
    """Return where each check is written, by exercise and check. The files are read, not run."""
    found = {}
    for exercise in course.exercises:
        file = course.checks_file(exercise)
        try:
            text = file.read_text("utf-8")
            tree = ast.parse(text)
        except (OSError, ValueError, SyntaxError):
            continue
        name = file.relative_to(course.root).as_posix()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                code = ast.get_source_segment(text, node) or ""
                found[exercise.id, node.name.removeprefix("test_")] = Written(name, node.lineno, code)
    return found


def told(check: CheckResult) -> str:
    """Return why a check does not pass, in a few lines of safe text; nothing where it passes."""
    if check.status == "pass":
        return ""
    lines = [message_of(check.status, check.finding), explanation(check.status, check.finding)]
    return "\n".join(filter(None, (*lines, _place(check))))


def summary(exercise: ExerciseResult) -> str:
    """Return everything about one exercise in safe lines: its points, then each check that does not pass."""
    lines = [f"{STATES[exercise.status].word}: {points_of(exercise.score, exercise.max_score)}"]
    lines += [f"{checks_pass(exercise.checks)}."] if exercise.checks else []
    for check in exercise.checks:
        if check.status != "pass":
            lines += [f"- {STATES[check.status].word} {one_line(check.title)}", *_indented(told(check))]
    return "\n".join(lines)


def notes(mark: Mark) -> list[str]:
    """Return what the class makes of the score, where that is not the score itself."""
    return [f"{each[:1].upper()}{each[1:]}." for each in map(one_line, mark.final.notes)] if mark.final else []


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _place(check: CheckResult) -> str:
    finding = check.finding
    if finding is None or finding.place is None:
        return ""
    code = dict(finding.source).get(finding.place.line, "").strip()
    within = f", in {name}" if (name := function(finding)) else ""
    sure = "" if finding.certain else "probably "
    where = f"{sure}{one_line(finding.place.file)}:{finding.place.line}{within}"
    return f"{where}: {one_line(code)}" if code else where
