"""The feedback file of one student: one HTML page without script or network, to be sent or laid where he finds it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from autograder.instructor.gradebook.feedback import notes, told
from autograder.instructor.gradebook.feedback_next import Next, named, next_of
from autograder.instructor.gradebook.feedback_style import STYLE
from autograder.instructor.gradebook.graded import Graded, Mark
from autograder.instructor.gradebook.policy import deadline
from autograder.report.html import SIGNS, exercise_card
from autograder.report.html_failure import failure_parts, table, text
from autograder.report.html_page import whole_page
from autograder.report.html_style import NAME
from autograder.report.words import (
    STATES,
    checks_pass,
    listed,
    message_of,
    number,
    passing,
    plural,
    points,
    points_of,
)
from autograder.report.words import notes as notes_of_intake
from autograder.results import CheckResult, ExerciseResult, Report, Status

LONGEST_NAME = 200
MOST_TITLES = 4
BY_HAND = "points by hand"


def feedback(graded: Graded, mark: Mark) -> str:
    """Return the page about a mark whose report is there: its score, what to begin with, each exercise.

    What a program printed is left out: under the seed of grading it may show the inputs of others.
    """
    report = mark.report
    assert report is not None
    whose = _short(mark.row.name or mark.student)
    first = next_of(graded.course, report.exercises)
    main = [
        *_score(graded, mark, report),
        *(_begin(first) if first is not None else _nothing_left(report)),
        "<h2>Exercises</h2>",
        _overview(graded, report.exercises),
        *(_exercise(each) for each in report.exercises),
        *_intake(report),
        *_made(graded, mark, report),
    ]
    header = f'<p>{text(report.course)}</p>\n<h1>Feedback for <bdi dir="auto">{text(whose)}</bdi></h1>'
    footer = "Whoever has this file can read it all: it is for you alone."
    parts = {"header": header, "main": "\n".join(main), "footer": footer}
    body = "\n".join(f"<{name}>\n{part}\n</{name}>" for name, part in parts.items())
    return whole_page(f"Feedback for {text(whose)}: {text(report.course)}", STYLE, body)


def _score(graded: Graded, mark: Mark, report: Report) -> Iterator[str]:
    if mark.score is None:
        yield '<p class="total">No score yet</p>'
        yield "<p>The grader failed on a part of it, which is no fault of yours; it is to be graded again.</p>"
    else:
        yield f'<p class="total">{points_of(mark.score, graded.policy.maximum)}</p>'
        yield from _sum(mark, report)
    yield from (f"<p>{text(each)}</p>" for each in _notes(mark))
    if checks := [check for each in report.exercises for check in each.checks]:
        passed = sum(each.status == "pass" for each in report.exercises)
        done = f"{passed} of {plural(len(report.exercises), 'exercise')}, and {checks_pass(checks)}."
        yield f"<p>{done} None of the checks is hidden: <code>course check</code> runs every one of them.</p>"


def _sum(mark: Mark, report: Report) -> Iterator[str]:
    """Yield what the score is the sum of, where it is another than what the checks gave."""
    assert mark.final is not None
    assert mark.score is not None
    rows = [["what the checks gave", points(report.score)]]
    if mark.final.lateness.penalty:
        rows.append([text(mark.final.lateness.sentence), _signed(-mark.final.lateness.penalty)])
    if mark.row.points:
        rows.append([BY_HAND, _signed(mark.row.points)])
    if len(rows) > 1:
        rows.append(["<strong>what counts</strong>", f"<strong>{points(mark.score)}</strong>"])
        yield _rows(["how it comes about", "points"], rows)


def _notes(mark: Mark) -> list[str]:
    """Return what the class makes of the score, but for what the sum says already."""
    if mark.final is None:
        return []
    told = mark.final.lateness.sentence if mark.final.lateness.penalty else ""
    left = tuple(each for each in mark.final.notes if each != told and not each.endswith(BY_HAND))
    return notes(replace(mark, final=replace(mark.final, notes=left)))


def _begin(first: Next) -> Iterator[str]:
    exercise = first.exercise
    yield '<section class="begin" aria-labelledby="begin">'
    yield f'<h2 id="begin">Begin with <a href="#{text(exercise.id)}">{_title(exercise)}</a></h2>'
    yield f"<p>{text(' '.join(first.why))}</p>"
    if exercise.first_failure is not None and exercise.status not in ("missing", "not_started"):
        yield f"<p>What to look at: {text(_message(exercise.first_failure))}</p>"
    commands = "".join(f"<li><code>{text(command)}</code> {text(does)}</li>" for command, does in first.commands)
    yield f"<ul>{commands}</ul>"
    if first.after:
        yield f"<p>After it: {text(named(first.after))}.</p>"
    yield "</section>"


def _nothing_left(report: Report) -> Iterator[str]:
    if all(each.status == "pass" for each in report.exercises):
        yield "<p>Every exercise passes: there is nothing that you have to do.</p>"


def _overview(graded: Graded, exercises: Sequence[ExerciseResult]) -> str:
    bonus = graded.policy.grading.bonus
    rows = [
        [
            f'<a href="#{text(each.id)}">{_title(each)}</a>',
            _state(each.status),
            f"{_points(each)}{', a bonus' if each.id in bonus else ''}",
            f"{passing(each.checks)} of {len(each.checks)}" if each.checks else "",
        ]
        for each in exercises
    ]
    return _rows(["exercise", "state", "points", "checks"], rows)


def _exercise(exercise: ExerciseResult) -> str:
    """Return the card of an exercise, the points of its checks, and why the others that fail do."""
    parts = [exercise_card(exercise, styled=False)]
    if exercise.status not in ("missing", "not_started") and exercise.checks:
        rows = [[text(each.title), _state(each.status), _points(each)] for each in exercise.checks]
        opened = "" if exercise.status == "pass" else " open"
        head = f"Points by check: {checks_pass(exercise.checks)}"
        parts.append(
            f'<details class="{NAME} rows"{opened}><summary>{head}</summary>'
            f"{table(['check', 'state', 'points'], rows, words='words')}</details>"
        )
        parts += _others(exercise)
    return f'<section class="exercise" id="{text(exercise.id)}">{"".join(parts)}</section>'


def _others(exercise: ExerciseResult) -> Iterator[str]:
    """Yield what fails besides the check on the card: those of one mistake together, the code of a line once."""
    first = exercise.first_failure
    mistakes: dict[str, list[CheckResult]] = {}
    for each in exercise.checks:
        if STATES[each.status].mark == "failed" and each is not first:
            mistakes.setdefault(told(each), []).append(each)
    if first is not None and (same := mistakes.pop(told(first), [])):
        yield f"<p>{_same(same, exercise)}</p>"
    here = [each for each in mistakes.values() if _line(each[0]) is not None and _line(each[0]) == _line(first)]
    if here:
        failing = [check for checks in here for check in checks]
        items = (f"<li><strong>{text(each.title)}</strong><br>{text(_message(each))}</li>" for each in failing)
        yield f"<p>What fails besides, at the same line:</p><ul>{''.join(items)}</ul>"
    elsewhere = [each for each in mistakes.values() if each not in here]
    if elsewhere:
        yield '<div class="more"><h3>What else does not pass</h3>'
    for checks in elsewhere:
        rest = f"<p>{_same(checks[1:], exercise)}</p>" if checks[1:] else ""
        yield f'<div class="{NAME} fail">{"".join(failure_parts(checks[0], 1, ""))}{rest}</div>'
    if elsewhere:
        yield "</div>"


def _line(check: CheckResult | None) -> tuple[str, int] | None:
    place = check.finding.place if check is not None and check.finding is not None else None
    return (place.file, place.line) if place is not None else None


def _message(check: CheckResult) -> str:
    return message_of(check.status, check.finding)


def _intake(report: Report) -> Iterator[str]:
    """Yield how the submission was read."""
    yield "<h2>How your files were read</h2>"
    found = notes_of_intake(report)
    if found:
        yield f"<ul>{''.join(f'<li>{text(each)}</li>' for each in found)}</ul>"
    else:
        yield "<p>There was nothing to note.</p>"


def _made(graded: Graded, mark: Mark, report: Report) -> Iterator[str]:
    """Yield all that the result depends on, but for a seed that is secret."""
    facts = {
        "your files": str(report.submission.get("digest") or "not known"),
        "exercises and checks": report.suite,
        "seed of the inputs": _seed(graded),
        "device": report.device,
        "confined by": f"{report.isolation}, level {report.level}",
        "versions": listed([f"{name} {each}" for name, each in graded.runtime.items()]),
        "handed in": _time(graded, mark.final.handed_in if mark.final else None),
        "due": _time(graded, deadline(graded.policy, mark.student, 0)),
    }
    rows = (f"<dt>{name}</dt><dd>{text(said)}</dd>" for name, said in facts.items() if said)
    yield "<h2>How this was made</h2>"
    yield f"<dl>{''.join(rows)}</dl>"
    yield "<p>The same files, checks, seed and versions give the same result.</p>"
    yield "<p><code>course submit</code> names the digest of your files, so you can tell which ones these were.</p>"


def _seed(graded: Graded) -> str:
    """Say what may be said of the seed: the public one is in everybody's course, any other may be used again."""
    if graded.seed is None:
        return "not known"
    if graded.seed == graded.course.seed:
        return f"{graded.seed}, the public one: course check draws the same inputs"
    return "secret: course check draws other inputs by the same rules"


def _time(graded: Graded, moment: datetime | None) -> str:
    zone = graded.policy.grading.zone
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M} ({zone})" if moment is not None else ""


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f'<div class="{NAME} rows">{table(head, rows, words="words")}</div>'


def _points(worth: ExerciseResult | CheckResult) -> str:
    """Return the points of an exercise or of a check; what was not judged has none."""
    if worth.status == "grader_error":
        return ""
    if isinstance(worth, CheckResult) and worth.bonus:
        return f"{points(worth.score)}, a bonus"
    return f"{points(worth.score)} of {points(worth.max_score)}"


def _signed(hundredths: int) -> str:
    return f"{'−' if hundredths < 0 else '+'}{points(abs(hundredths))}"


def _title(exercise: ExerciseResult) -> str:
    return text(f"{number(exercise.id)} {exercise.title}")


def _same(checks: Sequence[CheckResult], exercise: ExerciseResult) -> str:
    """Say which other checks fail by a mistake."""
    if len(checks) == len(exercise.checks) - 1 > 1:
        return "By the same mistake every other check of the exercise fails."
    titles = [each.title for each in checks[:MOST_TITLES]]
    more = [f"{len(checks) - MOST_TITLES} more"] if len(checks) > MOST_TITLES else []
    fail = "this check fails" if len(checks) == 1 else "these checks fail"
    return f"By the same mistake {fail}: {text('; '.join([*titles, *more]))}."


def _state(status: Status) -> str:
    state = STATES[status]
    return f'<span class="{state.mark}"><b aria-hidden="true">{SIGNS[state.mark]}</b> {state.word}</span>'


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
