"""The words of a verdict, the same in every rendering."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.report.printable import one_line, printable
from autograder.results.model import CheckResult, ExerciseResult, Finding, Place, Report, Status

Mark = Literal["passed", "failed", "waiting", "problem"]
AGREES = "agrees with what is expected"
RETURNED = "returned here"


@dataclass(frozen=True)
class State:
    """How a status is shown: its word, a shorter word for narrow tables, its mark, its colour, and what it means."""

    word: str
    short: str
    mark: Mark
    style: str
    meaning: str


STATES: dict[Status, State] = {
    "pass": State("PASS", "PASS", "passed", "green", "Every check passes."),
    "fail": State("FAIL", "FAIL", "failed", "red", "The result is not the expected one."),
    "error": State("ERROR", "ERROR", "failed", "red", "Your code raised an exception."),
    "timeout": State("TIMEOUT", "TIME", "failed", "red", "Your code was stopped: it ran longer than a check may."),
    "memory": State("MEMORY", "MEM", "failed", "red", "Your code was stopped: it used more memory than a check may."),
    "waits": State("WAITS", "WAITS", "waiting", "bright_black", "This waits until an earlier part passes."),
    "not_started": State("NOT STARTED", "NEW", "waiting", "bright_black", "Nothing is written here yet."),
    "missing": State("MISSING", "MISS", "failed", "red", "Its file is not in the submission."),
    "grader_error": State(
        "GRADER PROBLEM",
        "GRADER",
        "problem",
        "yellow",
        "The grader failed here, and not your code. Run the command again, and report this if it stays.",
    ),
}

_SHORT = {
    "where it was stopped": "stopped here",
    "where this was raised": "raised here",
    "the first line that goes astray": "goes astray here",
    "where this value is made": "made here",
}
_MOST_CHARACTERS = 1000  # of a message; more than is shown, and little enough to lay out at once

_WORD = re.compile(r"[a-z][a-z'-]*,?")


def number(exercise_id: str) -> str:
    """Return `05` of `ex05_attention`; another kind of id is its own number."""
    found = re.match(r"ex(\d+)_", exercise_id)
    return found[1] if found else one_line(exercise_id)


def spoken(identifier: str) -> str:
    """Return an id as words: `split_heads` as `split heads`."""
    return one_line(identifier).replace("_", " ")


def points(hundredths: int) -> str:
    """Return whole hundredths as points: 2350 as `23.5`."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def points_of(score: int, max_score: int) -> str:
    """Return `3 of 8 points`, or `3 points` where none were to be had, as for a bonus."""
    of = f" of {points(max_score)}" if max_score else ""
    return f"{points(score)}{of} {'point' if (max_score or score) == 100 else 'points'}"


def plural(count: int, word: str) -> str:
    """Return `1 check`, `7 checks`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def seconds(duration: float) -> str:
    """Return a measured time with as many digits as are worth reading."""
    return f"{duration:.0f} s" if duration >= 10 else f"{duration:.1f} s" if duration >= 1 else f"{duration:.2f} s"


def passing(checks: Sequence[CheckResult]) -> int:
    """Return how many checks pass."""
    return sum(each.status == "pass" for each in checks)


def checks_pass(checks: Sequence[CheckResult]) -> str:
    """Return `3 of 7 checks pass`; nothing where there are no checks."""
    if not checks:
        return ""
    return f"{passing(checks)} of {plural(len(checks), 'check')} {'passes' if len(checks) == 1 else 'pass'}"


def reference_parts(exercise: ExerciseResult) -> str:
    """Say which parts of the student's were not used; nothing where all were."""
    if exercise.parts == "own":
        return ""
    names = listed([f"exercise {number(each)}" for each in exercise.stood_in])
    if not names:
        return "What it builds on does not pass yet. Reference parts took its place, so its mistakes cost nothing here."
    one = len(exercise.stood_in) == 1
    place = "A reference part took its place, so its" if one else "Reference parts took their place, so their"
    return f"Your {names} {'does' if one else 'do'} not pass yet. {place} mistakes cost nothing here."


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def achieved(exercise: ExerciseResult, attempt: int | None = None) -> str:
    """Return what a pass amounts to: checks, points and time, and which attempt it was."""
    took, every = sum(each.seconds for each in exercise.checks), len(exercise.checks)
    done = passing(exercise.checks)
    checks = plural(every, "check") if done == every else f"{done} of {plural(every, 'check')}"
    earned = points_of(exercise.score, 0 if exercise.score == exercise.max_score else exercise.max_score)
    tried = [f"{ordinal(attempt)} attempt"] if attempt is not None and attempt > 0 else []
    return ", ".join((checks, earned, seconds(took), *tried))


def bonus_left(exercise: ExerciseResult) -> list[str]:
    """Return what is still to be had of an exercise that passes: its bonus checks that do not."""
    left = [each for each in exercise.checks if each.bonus and each.status not in ("pass", "waits")]
    return [f"bonus check {spoken(each.id)}: {message_of(each.status, each.finding)}" for each in left]


def ordinal(count: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    ending = "th" if count // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def was_asked(check: CheckResult) -> bool:
    """Return whether a check came to be run: without a file, or with one that cannot be read, none does."""
    finding = check.finding
    if finding is not None and (finding.kind, finding.id) == ("structure", "unread"):
        return False
    at_import = finding is not None and finding.kind == "exception" and finding.place and not function(finding)
    return check.status not in ("missing", "grader_error") and not at_import


def message_of(status: Status, finding: Finding | None) -> str:
    """Return the sentence a failure opens with; a problem of the grader is never put on the student."""
    if finding is None or status == "grader_error" or not finding.message:
        return STATES[status].meaning
    return one_line(finding.message[:_MOST_CHARACTERS])


def explanation(status: Status, finding: Finding | None) -> str:
    """Return what is known beside the message: a misconception's name and meaning, or the library's own words."""
    if finding is None:
        return ""
    name, detail = one_line(finding.name or ""), printable((finding.detail or "")[:_MOST_CHARACTERS]).strip("\n")
    if status == "grader_error":
        return detail or one_line(finding.message[:_MOST_CHARACTERS])
    if not name or detail.startswith(name) or is_name(message_of(status, finding), name):
        return detail
    if finding.kind == "misconception":
        return f"Misconception: {name}{'' if name.endswith(('.', '?')) else '.'} {detail}".rstrip()
    return f"{name}: {detail}" if detail else f"{name}."


def is_name(message: str, name: str) -> bool:
    """Return whether a message says no more than the name of a misconception."""
    return bool(name) and message.rstrip(".").lower() == name.rstrip(".").lower()


def opened(name: str, code: str = "") -> str:
    """Return a misconception's name as the opening of a sentence; what is a word of the code keeps its small letter."""
    first = name.split(" ", 1)[0]
    is_code = not _WORD.fullmatch(first) or re.search(
        rf"[.(=]\s*{re.escape(first)}\b|\b{re.escape(first)}\s*[(=.]", code
    )
    return name if is_code else name[:1].upper() + name[1:]


def circumstance(status: Status, finding: Finding, short: bool = False) -> str:
    """Return what happened at a finding's place, and *probably* where that is not certain."""
    what = _circumstance(status, finding)
    what = _SHORT.get(what, what) if short else what
    return what if finding.certain or not what else f"probably {what}"


def _circumstance(status: Status, finding: Finding) -> str:
    if status == "timeout":
        return "where it was stopped"
    if finding.kind == "exception":
        return "where this was raised" if status == "error" and function(finding) else ""
    if status == "error" and not finding.label and not finding.agrees:
        return ""  # the statement that is known to be wrong may stand before the one that raised
    if finding.kind == "place" or finding.agrees:
        return "the first line that goes astray"
    if finding.evidence is None and finding.kind != "pattern" and not finding.label:
        return ""
    line = dict(finding.source).get(finding.place.line, "") if finding.place else ""
    return RETURNED if line.strip().startswith("return") else "where this value is made"


def line_of(place: Place) -> str:
    """Return where in its file a place is: `line 12`, or `cell 4, line 3` of a notebook."""
    return f"line {place.line}" if place.cell is None else f"cell {place.cell}, line {place.line}"


def function(finding: Finding) -> str:
    """Return the name of the function a finding points into, with its class; the top level of a file has none."""
    name = one_line(finding.place.function or "") if finding.place else ""
    parts = name.split(".")
    inner = max((place for place, each in enumerate(parts) if each == "<locals>"), default=-1)
    return ".".join(each for each in parts[inner + 1 :] if not each.startswith("<"))


def shown_first(report: Report) -> ExerciseResult | None:
    """Return the exercise to look at first: the first that fails, else the first that is not done."""
    open_ones = [each for each in report.exercises if each.status != "pass"]
    failing = [each for each in open_ones if STATES[each.status].mark != "waiting" and each.status != "missing"]
    return next(iter(failing or open_ones), None)


def student(report: Report) -> str:
    """Return the student's name, or nothing for a check of one's own."""
    return one_line(str(report.submission.get("student") or ""))


def notes(report: Report) -> list[str]:
    """Return what the intake noted about a submission."""
    found = report.submission.get("notes") or ()
    return [one_line(str(each)) for each in ([found] if isinstance(found, str) else found)]
