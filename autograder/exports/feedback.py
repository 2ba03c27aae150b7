"""A mark for its student: its checks that do not pass, and what the class adds, as text, HTML and Markdown."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from autograder.course import Course
from autograder.gradebook import Graded, Mark, can_earn, claim_text, due_date
from autograder.report import (
    NOT_RUN,
    STATES,
    Command,
    FailureView,
    check_state,
    checks_pass,
    ended,
    exercise_card,
    failure_text,
    failure_view,
    flag_sentences,
    number,
    one_line,
    plural,
    points,
    points_of,
    render,
    state_of,
)
from autograder.results import NOT_JUDGED, CheckResult, ExerciseResult, Report, joined

from .formats import Format, each


def check_text(check: CheckResult) -> str:
    """Return why a check does not pass, in a few lines of safe text; nothing if it passes."""
    return "" if check.status == "pass" else failure_text(failure_view(check))


def others_not_run(others: Sequence[CheckResult]) -> str:
    """Return how many of the other checks of an exercise were not run; nothing if all of them were."""
    count = sum(check_state(check) is NOT_RUN for check in others)
    return f"{plural(count, 'other check')} {'was' if count == 1 else 'were'} not run." if count else ""


def is_unwritten(exercise: ExerciseResult) -> bool:
    """Say whether there is no work on an exercise."""
    return exercise.status in ("missing", "not_started") and not exercise.in_progress


def summary(exercise: ExerciseResult) -> str:
    """Return the points of an exercise, then each check that does not pass, in lines of safe text.

    An exercise without any work has one line, as no check says more than that. So has one that is held: it has no
    points.
    """
    state = state_of(exercise)
    if exercise.status == "held":
        return f"{state.word}: {check_text(exercise.checks[0]) if exercise.checks else state.meaning}"
    lines = [f"{state.word}: {points_of(exercise.score, exercise.max_score)}"]
    if is_unwritten(exercise) and not exercise.flags:
        return lines[0]
    lines += [f"{checks_pass(exercise.checks)}."] if exercise.checks else []
    for check in exercise.checks:
        if check.status != "pass":
            lines.append(f"- {check_state(check).word} {one_line(check.title)}")
            lines += [f"  {line}" for line in check_text(check).splitlines()]
    return "\n".join([*lines, *flag_sentences(exercise)])


def notes(mark: Mark) -> list[str]:
    """Return how the class changes the score, as sentences; nothing if it does not."""
    return [ended(f"{note[:1].upper()}{note[1:]}") for note in map(one_line, mark.final.notes)] if mark.final else []


# What a student should do next: the exercise to begin with, and why that one.

MOST_NAMED = 5
UNWRITTEN = ("missing", "not_started", "waits")


@dataclass(frozen=True)
class Next:
    """The exercise to begin with, why, the commands that help, and the exercises after it, in course order."""

    exercise: ExerciseResult
    why: tuple[str, ...]
    commands: tuple[Command, ...]
    after: tuple[ExerciseResult, ...]


def next_of(
    course: Course, exercises: Sequence[ExerciseResult], can_earn: Callable[[str], bool] = lambda _: True
) -> Next | None:
    """Return what to begin with: the first exercise that fails, else the first not complete; None if all pass.

    `can_earn` says by the id of an exercise whether its points can still be earned. An exercise that the grader failed
    on is left out: the student can do nothing about it.
    """
    failing = [exercise for exercise in exercises if _is_wrong(exercise)]
    unwritten = [exercise for exercise in exercises if exercise.in_progress or exercise.status in UNWRITTEN]
    order = [*failing, *unwritten]
    if not order:
        return None
    first, *after = order
    left = _left(first) if can_earn(first.id) else ""
    why = (_reason(first, failing, unwritten, len(exercises)), left, _builds(course, first))
    return Next(first, tuple(filter(None, why)), _commands(first), tuple(after))


def named(exercises: Sequence[ExerciseResult]) -> str:
    """Return the first few exercises by number and title, and how many more there are."""
    return joined([f"{number(exercise.id)} {exercise.title}" for exercise in exercises], most=MOST_NAMED)


def _is_wrong(exercise: ExerciseResult) -> bool:
    return exercise.status != "missing" and state_of(exercise).mark == "failed"


def _reason(
    first: ExerciseResult, failing: Sequence[ExerciseResult], unwritten: Sequence[ExerciseResult], total: int
) -> str:
    if len(unwritten) == total and not any(exercise.in_progress for exercise in unwritten):
        return "You have not written anything yet."
    if not _is_wrong(first):
        others = f"the first of the {len(unwritten)}" if len(unwritten) > 1 else "the only one"
        return f"Everything you have written passes. This is {others} you have not completed yet."
    if len(failing) > 1:
        return f"It is the first of the {len(failing)} exercises that fail."
    return "It is the only exercise that fails."


def _left(exercise: ExerciseResult) -> str:
    left = exercise.max_score - exercise.score
    return f"You can still earn {points(left)} of its {points(exercise.max_score)} points." if left > 0 else ""


def _builds(course: Course, first: ExerciseResult) -> str:
    """Return which exercises build on it, directly or not."""
    known = {exercise.id: exercise for exercise in course.exercises}
    if first.id not in known:
        return ""
    needed = known[first.id]
    others = (exercise for exercise in course.exercises if exercise is not needed)
    numbers = [exercise.number for exercise in others if needed in course.with_needs(exercise)]
    if not numbers:
        return ""
    one = len(numbers) == 1
    return f"Exercise{'' if one else 's'} {joined(numbers)} build{'s' if one else ''} on it."


def _commands(exercise: ExerciseResult) -> tuple[Command, ...]:
    name, check = number(exercise.id), exercise.first_failure
    commands = [(f"course check {name}", "checks it, and also shows the numbers")]
    if not _is_wrong(exercise) or check is None:
        return tuple(commands)
    if check.hints:
        commands.append((f"course hint {name}", "gives the next hint"))
    if check.finding is not None and check.finding.known_as:
        commands.append((f"course why {check.finding.id}", f"explains the {check.finding.known_as}"))
    return tuple(commands)


# The feedback file of one student: one HTML page without script or network.

LONGEST_NAME = 200
MOST_TITLES = 4


def feedback(graded: Graded, mark: Mark) -> str:
    """Return the page of a mark with a report: the score, what to begin with, each exercise.

    It omits what a program printed, because with the seed of grading that may show the inputs of others.
    """
    report = mark.report
    assert report is not None
    name = mark.row.name or mark.student
    return render(
        "exports/templates/feedback.html.j2",
        graded=graded,
        mark=mark,
        report=report,
        name=name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…",
        notes=_notes(mark),
        earlier={exercise.id: exercise for exercise in mark.before.exercises} if mark.before else None,
        first=next_of(
            graded.course, report.exercises, partial(can_earn, graded.policy, mark.student, datetime.now(UTC))
        ),
        origin=_origin(graded, mark, report) if report.suite else {},
        card=partial(exercise_card, styled=False),
        claims=_claims,
        others=_others,
        named=named,
        points_of=_points,
        void={(row.exercise, row.value) for row in mark.final.adjustments if row.kind == "void"} if mark.final else (),
    )


def _notes(mark: Mark) -> list[str]:
    """Return how the class changes the score, without what the table of its parts says already."""
    if mark.final is None:
        return []
    said = {*mark.final.said, *(label for label, _ in mark.final.steps)}
    left = tuple(note for note in mark.final.notes if note not in said)
    return notes(replace(mark, final=replace(mark.final, notes=left)))


def _others(exercise: ExerciseResult) -> tuple[str, str, list[CheckResult], list[tuple[FailureView, str]]]:
    """Return what fails besides the check on the card of an exercise: checks with the same mistake are together.

    First how many checks were not run, and which have the mistake of the card; then those that fail at its line; then
    all other mistakes, each with a sentence about the other checks that have it.
    """
    first = exercise.first_failure
    others = [check for check in exercise.checks if check is not first]
    mistakes: dict[str, list[CheckResult]] = {}
    for check in others:
        if check_state(check).mark == "failed":
            mistakes.setdefault(check_text(check), []).append(check)
    same = mistakes.pop(check_text(first), []) if first is not None else []
    here = [checks for checks in mistakes.values() if _line(checks[0]) is not None and _line(checks[0]) == _line(first)]
    elsewhere = [checks for checks in mistakes.values() if checks not in here]
    return (
        others_not_run(others),
        _same(same, exercise),
        [check for checks in here for check in checks],
        [(failure_view(one), _same(more, exercise)) for one, *more in elsewhere],
    )


def _claims(mark: Mark, exercise: ExerciseResult | None = None) -> list[str]:
    """Return the lines that ask about each check that fails, with an empty line between two; or about the hand-in."""
    if exercise is None:
        return claim_text(mark).splitlines()
    failed = [check for check in exercise.checks if check_state(check).mark == "failed"]
    return "\n".join(claim_text(mark, exercise, check) for check in failed).splitlines()


def _line(check: CheckResult | None) -> tuple[str, int] | None:
    place = check.finding.place if check is not None and check.finding is not None else None
    return (place.file, place.line) if place is not None else None


def _origin(graded: Graded, mark: Mark, report: Report) -> dict[str, str]:
    """Return everything the result depends on, except a secret seed."""
    facts = {
        "your files": str(report.submission.get("digest") or "not known"),
        "exercises and checks": report.suite,
        "seed of the inputs": _seed(graded),
        "device": report.device,
        "confined by": f"{report.isolation}, level {report.level}",
        "versions": joined([f"{name} {version}" for name, version in graded.runtime.items()]),
        "handed in": _time(graded, mark.final.handed_in if mark.final else None),
        "due": _time(graded, due_date(graded.policy, mark.student)),
    }
    return {name: value for name, value in facts.items() if value}


def _seed(graded: Graded) -> str:
    """Return the seed only if it is the public one: any other may be used again."""
    if graded.seed is None:
        return "not known"
    if graded.seed == graded.course.seed:
        return f"{graded.seed}, the public one: `course check` uses the same inputs"
    return "secret: `course check` uses other inputs, made by the same rules"


def _time(graded: Graded, moment: datetime | None) -> str:
    zone = graded.policy.grading.zone
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M} ({zone})" if moment is not None else ""


def _points(worth: ExerciseResult | CheckResult) -> str:
    """Return the points of an exercise or of a check; nothing if it was not judged."""
    if worth.status in NOT_JUDGED:
        return ""
    if isinstance(worth, CheckResult) and worth.bonus:
        return f"{points(worth.score)}, a bonus"
    if not worth.max_score:
        return "not counted here" if isinstance(worth, ExerciseResult) else ""
    return f"{points(worth.score)} of {points(worth.max_score)}"


def _same(checks: Sequence[CheckResult], exercise: ExerciseResult) -> str:
    """Return a sentence about the other checks that fail because of a mistake; nothing if there are none."""
    if not checks:
        return ""
    finding = checks[0].finding
    cause = (finding.known_as if finding is not None else None) or "mistake"
    if len(checks) == len(exercise.checks) - 1 > 1:
        return f"Every other check of the exercise fails because of the same {cause}."
    titles = [check.title for check in checks[:MOST_TITLES]]
    more = [f"{len(checks) - MOST_TITLES} more"] if len(checks) > MOST_TITLES else []
    fail = "This check fails" if len(checks) == 1 else "These checks fail"
    return f"{fail} because of the same {cause}: {'; '.join([*titles, *more])}."


# The Markdown of one student: for a job summary, a comment on a pull request, or the body of a release.

LONGEST = 60_000
"""Characters: GitHub refuses a comment of more than 65,536."""


def markdown(graded: Graded, mark: Mark) -> str:
    """Return the score, a table of the exercises, and the first failure of each. A student's words are in fences."""
    report = mark.report
    assert report is not None
    score = f": {points_of(mark.score, graded.policy.maximum)}" if mark.score is not None else ""
    lines = [f"## {_plain(report.course)}{score}", "", *(f"{_plain(note)}\n" for note in notes(mark))]
    if mark.score is None:
        lines += [why_no_score(mark), ""]
    lines += ["| exercise | result | points |", "|---|---|--:|", *map(_row, report.exercises)]
    flags = [(exercise, flag) for exercise in report.exercises for flag in flag_sentences(exercise)]
    lines += [f"\n{number(exercise.id)} {_plain(exercise.title)}: {_plain(flag)}" for exercise, flag in flags]
    size, failures = sum(map(len, lines)), failing(report)
    sections = [_section(exercise, check) for exercise, check in failures]
    while sections and size + sum(map(len, sections)) > LONGEST:
        sections.pop()
    if left := len(failures) - len(sections):
        sections.append(f"\n`course check` shows {plural(left, 'more failure')}.")
    return "\n".join([*lines, *sections]) + "\n"


def why_no_score(mark: Mark) -> str:
    """Return why a mark has no score, for a student."""
    if mark.excused:
        return "Excused: nothing counts here."
    statuses = mark.report.statuses if mark.report else ()
    problems = (state.meaning for status, state in STATES.items() if state.mark == "problem" and status in statuses)
    return next(problems, "Nobody has decided on a score yet.")


def failing(report: Report) -> list[tuple[ExerciseResult, CheckResult]]:
    """Return the exercises with work that fails, each with the failure to look at first."""
    firsts = [(exercise, exercise.first_failure) for exercise in report.exercises if exercise.status != "missing"]
    return [(exercise, check) for exercise, check in firsts if check and STATES[check.status].mark == "failed"]


def _row(exercise: ExerciseResult) -> str:
    name = f"{number(exercise.id)} {_plain(exercise.title)}"
    worth = "" if exercise.status in NOT_JUDGED else f"{points(exercise.score)} of {points(exercise.max_score)}"
    return f"| {name} | {state_of(exercise).word} | {worth} |"


def _section(exercise: ExerciseResult, check: CheckResult) -> str:
    text = check_text(check)
    # A fence is longer than every run of backticks in it, so a student's text cannot end it.
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    others = [other for other in exercise.checks if other is not check]
    failed = sum(check_state(other).mark == "failed" for other in others)
    fails = [f"{plural(failed, 'other check')} of it {'fails' if failed == 1 else 'fail'}."] if failed else []
    shows = f"`course check {number(exercise.id)}` shows the evidence and a hint."
    command = " ".join([shows, *fails, *filter(None, [others_not_run(others)])])
    heading = f"\n### {number(exercise.id)} {_plain(exercise.title)}: {_plain(check.title)}\n"
    return "\n".join([heading, f"{fence}text", text, fence, "", command])


def _plain(text: str) -> str:
    """Return one line of text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#@~&])", r"\\\1", one_line(text))


FORMATS = (Format("markdown", each(markdown, ".md"), of_a_term=True),)
