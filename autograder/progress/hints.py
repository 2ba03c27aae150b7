"""The hints for a learner's last failure: one after the other, from a question to the step."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograder.course import (
    Course,
    Described,
    Exercise,
    UsageError,
    describe,
    is_number,
    nearest_ids,
    read_text,
    resolve_exercise,
    unknown,
)
from autograder.report import STATES
from autograder.results import KNOWN_AS, Certainty
from autograder.submission import is_missing, missing_sentence, own_source

from .events import UNTRIED, Event, Progress, Standing, now
from .store import LastReport, digest_of, read_last, save_events


@dataclass(frozen=True)
class HintSequence:
    """The hints shown so far, the newest last, out of `total`, and the title of the check they are about.

    `waits_for_edit` says that the next hint needs an edit first. `warning` says why this could not be saved, or "".
    """

    title: str
    hints: tuple[str, ...]
    total: int
    waits_for_edit: bool
    warning: str = ""


def take_hint(
    course: Course, exercise: Exercise, standing: Standing, digest: str | None, *, at_once: bool
) -> HintSequence:
    """Show the next hint, and record the request. After the first, the file must have changed, unless `at_once`.

    `digest` is that of the learner's file now. Raises `UsageError` if no check has failed.
    """
    title, hints = failure_texts(course, exercise, standing)
    if not hints:
        raise UsageError(_no_hint(exercise, standing))
    before = min(max(standing.hints_shown, 0), len(hints))
    unchanged = digest == standing.hint_file
    waits = 0 < before < len(hints) and unchanged and not at_once
    level = before if waits else min(before + 1, len(hints))
    forced = True if level > before and at_once and unchanged else None
    event = Event(now(), "hint", exercise.id, "hint", file=digest, hint=level, hints=len(hints), now=forced)
    warning = save_events(course, [event]).warning
    return HintSequence(title, tuple(hints[:level]), len(hints), waits, warning)


def _no_hint(exercise: Exercise, standing: Standing) -> str:
    """Return why there is no hint: nothing failed yet, or the failure is about a name, a call or an exception."""
    number = exercise.number
    if standing.runs and standing.status not in UNTRIED:
        reason = f"its message says what is wrong; `course check {number}` shows it again"
        return f"no hint for the last failure of {exercise.id}: {reason}"
    return f"no hint for {exercise.id} yet: run `course check {number}` first; hints explain a failure"


def no_hint_reason(course: Course, progress: Progress, exercise: Exercise | None) -> list[str]:
    """Return sentences on why there is nothing to hint at; none if there may be a hint."""
    if exercise is None:
        return ["Every exercise passes: there is nothing to hint at."]
    standing = progress.of(exercise)
    if standing.status == "pass":
        return [f"{exercise.number} {exercise.title} passes: there is nothing to hint at."]
    if is_missing(course, exercise):
        return [missing_sentence(course, exercise)]
    return _advice(course, exercise, standing)


def _advice(course: Course, exercise: Exercise, standing: Standing) -> list[str]:
    """Return what failed and what to look at, where the last failure has no hints; none if it may have some."""
    last = read_last(course, exercise)
    failure = last.failure if last else None
    is_hinted = failure is None or standing.status in UNTRIED or standing.in_progress
    if is_hinted or failure_texts(course, exercise, standing)[1] or failure is None:
        return []
    if failure["status"] in ("grader_error", *UNTRIED, "waits"):
        return []
    finding = failure.get("finding") or {}
    place = finding.get("place") or {}
    what = str(finding.get("message") or STATES[failure["status"]].meaning)
    where = [f"See line {place['line']} of {place['file']}."] if place.get("line") and place.get("cell") is None else []
    kind, id_, quoted = (str(finding.get(name) or "") for name in ("kind", "id", "detail"))
    from autograder.diagnosis import advice  # only for a failure

    return [what, *where, advice(failure["status"], kind, id_, what, quoted)]


def failure_texts(course: Course, exercise: Exercise, standing: Standing) -> tuple[str, tuple[str, ...]]:
    """Return the title of the check that failed first, and its hints.

    They are stored with the progress. If that was rebuilt, they come from the last report, or from the course.
    """
    if standing.hints or not standing.check:
        return standing.title or "", standing.hints
    last = read_last(course, exercise)
    failure = last.failure if last else None
    if failure and failure["id"] == standing.check:
        return str(failure.get("title", "")), tuple(str(hint) for hint in failure.get("hints") or ())
    hints = exercise.hints.get(standing.check, ()) if standing.hints_shown else ()
    return standing.title or standing.check.replace("_", " "), tuple(hints)


# The page of a misconception: what the catalogue says, and what was measured on the learner's own program.


ONLY_ALIKE = "Your results equal those of a program with this mistake. Your code may have another one."


def find_page(course: Course, progress: Progress, wanted: str | None) -> tuple[Described, Exercise | None]:
    """Return the page of a misconception, by default the one behind the last failure, and its exercise.

    `wanted` is its id, or an exercise: then it is the one behind the last failure of that exercise. The correct lines
    are on it only if the learner has passed the exercise. The wrong line is that of the learner's own last failure: the
    catalogue's is a line that nobody wrote. Raises `UsageError` if there is no page.
    """
    page = _find(course, progress, _meant(course, progress, wanted))
    exercise = next((exercise for exercise in course.exercises if exercise.id == page.exercise), None)
    if exercise is None or not progress.of(exercise).ever_passed:
        page = replace(page, right=())
    if exercise is not None and progress.of(exercise).finding == page.id and progress.of(exercise).is_alike:
        page = replace(page, explanation=f"{ONLY_ALIKE} {page.explanation}")
    return replace(page, wrong=_own_line(course, progress, exercise, page.id) if exercise else ()), exercise


def _meant(course: Course, progress: Progress, wanted: str | None) -> str:
    """Return the id of the misconception that is meant: an exercise stands for the one behind its last failure."""
    if wanted is None:
        return _last_misconception(course, progress, progress.current(course))
    if describe(course, wanted) is not None:
        return wanted
    try:
        exercise = resolve_exercise(course, wanted)
    except UsageError:
        if is_number(wanted):
            raise
        return wanted
    return _last_misconception(course, progress, exercise)


def _own_line(course: Course, progress: Progress, exercise: Exercise, misconception: str) -> tuple[str, ...]:
    """Return the learner's line that the last failure points to, if it is about this misconception."""
    finding = _last_finding(course, progress, exercise, misconception)
    place = finding.get("place") or {}
    if finding.get("certainty") not in (Certainty.ALIKE.value, Certainty.SHOWN.value):
        return ()
    return tuple(str(text) for line, text in finding.get("source") or () if line == place.get("line"))


def _find(course: Course, progress: Progress, wanted: str) -> Described:
    reports = (_from_last_report(course, progress, exercise, wanted) for exercise in course.exercises)
    own = next((page for page in reports if page), None)
    page = describe(course, wanted)
    if page is not None:
        return replace(page, experiment=page.experiment or (own.experiment if own else ""))
    if own is not None:
        return own
    near = nearest_ids(course, wanted)
    raise UsageError(unknown("misconception", wanted, near, more="" if near else "Use the id that a failure shows."))


def _last_misconception(course: Course, progress: Progress, exercise: Exercise | None) -> str:
    """Return the id of the misconception behind the last failure of an exercise."""
    last = read_last(course, exercise) if exercise else None
    failure = last.failure if last else None
    if exercise is not None and is_missing(course, exercise):
        raise UsageError(missing_sentence(course, exercise))
    if exercise is None or failure is None:
        number = f" {exercise.number}" if exercise else ""
        before = _named_before(course, progress, exercise)
        raise UsageError(f"there is no failure to explain: run `course check{number}`, or name a misconception{before}")
    if failure["status"] == "not_started":
        raise UsageError(
            f"nothing fails in {exercise.id}, a part is not written yet: "
            f"`course hint {exercise.number}` says how to begin"
        )
    finding = failure.get("finding") or {}
    if finding.get("kind") not in KNOWN_AS:
        raise UsageError(
            f"the last failure of {exercise.id} has no page in the catalogue of mistakes: "
            f"`course diff {exercise.number}` shows every measurement{_named_before(course, progress, exercise)}"
        )
    return str(finding["id"])


def _named_before(course: Course, progress: Progress, exercise: Exercise | None) -> str:
    """Return a sentence with the misconceptions of an exercise that were named for the learner; "" without any."""
    names = [key.partition(":")[2] for key in progress.of(exercise).levels] if exercise else []
    commands = [f"`course why {name}`" for name in dict.fromkeys(names) if name and describe(course, name) is not None]
    return f". It explains earlier mistakes too: {', '.join(commands)}." if commands else ""


def _from_last_report(course: Course, progress: Progress, exercise: Exercise, wanted: str) -> Described | None:
    """Return what the last report on an exercise says of a misconception: a kit may have no catalogue."""
    finding = _last_finding(course, progress, exercise, wanted)
    if not finding:
        return None
    hints = progress.of(exercise).hints or ("",)
    return Described(
        id=wanted,
        exercise=exercise.id,
        name=str(finding.get("name") or finding.get("message")),
        explanation=str(finding.get("detail") or finding.get("message")),
        hint=str(hints[0]),
        experiment=_experiment(finding),
    )


def _last_finding(course: Course, progress: Progress, exercise: Exercise, misconception: str) -> Mapping[str, Any]:
    """Return the finding of the last failure of an exercise, if it names this misconception."""
    if progress.of(exercise).finding != misconception:
        return {}  # reports are large: open only the one that names it
    last = read_last(course, exercise)
    finding = ((last.failure if last else None) or {}).get("finding") or {}
    is_it = finding.get("kind") in KNOWN_AS and finding.get("id") == misconception
    return finding if is_it else {}


def _experiment(finding: Mapping[str, Any]) -> str:
    """Return what was measured on the learner's own program; "" without a number of it."""
    witnesses = (finding.get("evidence") or {}).get("witnesses") or []
    if not witnesses:
        return ""
    at, expected, yours = witnesses[0]
    return f"At {at} your program returned {yours}, expected {expected}."


# The stored evidence of the last failure of an exercise, without another run.


def read_last_check(course: Course, exercise: Exercise | None) -> LastReport:
    """Return the last report on an exercise. Raises `UsageError` if there is none."""
    last = read_last(course, exercise) if exercise else None
    if last is None:
        if exercise is not None and is_missing(course, exercise):
            raise UsageError(missing_sentence(course, exercise))
        number = f" {exercise.number}" if exercise else " --all"
        own = f"it needs a check of your own files in {course.exercises_dir.name}/"
        raise UsageError(f"there is no failure to show: {own}; run `course check{number}` first")
    return last


def has_changed(course: Course, exercise: Exercise, last: LastReport) -> bool:
    """Return whether the learner's file has changed since its last check."""
    source = own_source(course, exercise)
    return (digest_of(source) if source is not None else None) != last.file


def evidence_json(last: LastReport, *, changed: bool) -> dict[str, Any]:
    """Return the last check for `--json`."""
    return {"exercise": last.exercise, "at": last.at, "changed_since": changed, "log": last.report.get("log", "")}


# The reference solution of an exercise: when a learner may see it, and its code.

LAST_HINT = 3
"""A learner who has seen this many hints may see the solution."""

_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def read_solution(course: Course, exercise: Exercise) -> str:
    """Return the source of the reference solution. Raises `UsageError` if this kit has none."""
    try:
        return read_text(course.solutions_dir / exercise.file)
    except FileNotFoundError:
        raise UsageError(
            f"this kit does not carry the solution of {exercise.id}; ask the person who gave it to you"
        ) from None


def require_attempt(course: Course, exercise: Exercise, standing: Standing, what: str = "see the solution of") -> None:
    """Raise `UsageError` if the learner should try something else before they see a solution.

    `what` is what they want to do with the exercise: it completes "you may" and "before you".
    """
    number = exercise.number
    if not standing.runs or standing.status in UNTRIED:
        raise UsageError(f"before you {what} {exercise.id}, write it and run `course check {number}`")
    _, hints = failure_texts(course, exercise, standing)
    seen = max([standing.hints_shown, *standing.levels.values()])
    if hints and seen < min(LAST_HINT, len(hints)):
        raise UsageError(
            f"you may {what} {exercise.id} after a pass or the last hint; "
            f"`course hint {number}` shows hint {seen + 1} of {len(hints)}"
        )


def code_lines(solution: str) -> list[str]:
    """Return the lines of code of a solution, without its lesson and the marks of its regions."""
    lines: list[str] = []
    prose = False
    for line in solution.splitlines():
        if line.startswith("# %%"):
            prose = "[markdown]" in line
        elif not prose and line.strip() not in _MARKS and not line.strip().startswith("# TODO ex"):
            lines.append(line)
    text = "\n".join(lines).strip("\n")
    while "\n\n\n\n" in text:  # what was cut out leaves gaps
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text.split("\n")
