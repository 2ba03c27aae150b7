"""The plain text of a mark: its checks that do not pass, and what the class adds to it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from autograder.course import Course
from autograder.gradebook import BY_HAND, CHECKS, Graded, Mark, can_earn, deadline
from autograder.report import (
    NAME,
    NOT_RUN,
    SIGNS,
    Command,
    State,
    check_state,
    checks_pass,
    ended,
    exercise_card,
    failure_parts,
    failure_text,
    failure_view,
    listed,
    message_of,
    number,
    one_line,
    page_themes,
    passing,
    plural,
    points,
    points_of,
    state_of,
    style,
    table,
    text,
    whole_page,
)
from autograder.report import notes as notes_of_intake
from autograder.results import NOT_JUDGED, CheckResult, ExerciseResult, Report


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
    if is_unwritten(exercise):
        return lines[0]
    lines += [f"{checks_pass(exercise.checks)}."] if exercise.checks else []
    for check in exercise.checks:
        if check.status != "pass":
            lines.append(f"- {check_state(check).word} {one_line(check.title)}")
            lines += [f"  {line}" for line in check_text(check).splitlines()]
    return "\n".join(lines)


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
    names = [f"{number(exercise.id)} {exercise.title}" for exercise in exercises[:MOST_NAMED]]
    more = len(exercises) - len(names)
    return listed([*names, *([f"{more} more"] if more else [])])


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
    return f"Exercise{'' if one else 's'} {listed(numbers)} build{'s' if one else ''} on it."


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


# The style of a feedback page: for a phone, a wide window, a dark theme, and paper.

_CARD = f".{NAME}.{NAME}.{NAME}"
_ROWS = f"{_CARD}.rows"

STYLE = f"""\
{page_themes()}
body {{ color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif;
  margin: 0 auto; max-width: 60rem; padding: 1.2rem 1rem 2rem; overflow-wrap: anywhere }}
h1 {{ font-size: 1.6rem; line-height: 1.2; margin: 0 }}
h2 {{ font-size: 1.2rem; margin: 2rem 0 .5rem }}
p {{ margin: .4rem 0 }}
a {{ color: var(--key) }}
header p {{ color: var(--soft); margin: 0 }}
.total {{ font-size: 1.35rem; font-weight: 600; margin: .8rem 0 .3rem }}
.begin {{ border: 1px solid var(--line); border-left: 5px solid var(--key); border-radius: 4px;
  padding: .1rem 1.2rem .7rem; margin-top: 1.5rem }}
.begin h2 {{ margin-top: .6rem }}
.begin ul {{ margin: .4rem 0; padding-left: 1.2rem }}
.begin code {{ color: var(--key) }}
code {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .93em }}
section.exercise {{ margin: 1.2rem 0 1.6rem }}
.more {{ margin-left: 1.2rem }}
.more h3 {{ font-size: 1em; margin: .9rem 0 .3rem }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .4rem 0 }}
dt {{ color: var(--soft) }}
dd {{ margin: 0 }}
footer {{ border-top: 1px solid var(--line); color: var(--soft); margin-top: 2rem; padding-top: .6rem }}
{style()}
{_ROWS} {{ border: 0; background: none; padding: 0; margin: .4rem 0; max-width: none }}
{_ROWS} tbody tr {{ border-top: 1px solid var(--line) }}
{_ROWS} :is(th, td) {{ padding: .2rem 1.1rem .2rem 0 }}
{_ROWS} th[scope=row] {{ white-space: normal }}
details{_ROWS} {{ margin-left: 1.3rem }}
{_CARD} pre > span {{ display: block; padding-left: 7ch; text-indent: -7ch }}
@media (max-width: 40rem) {{
  dl {{ display: block }}
  dd {{ margin: 0 0 .4rem }}
  .more, details{_ROWS} {{ margin-left: 0 }}
  {_CARD}:not(.rows) {{ padding-left: .8rem; padding-right: .8rem }}
  {_CARD} pre {{ white-space: pre-wrap }}
  {_CARD}:not(.rows) .words td {{ white-space: normal }}
  {_ROWS} :is(th, td) {{ padding-right: .6rem }}
  {_ROWS} :is(th, td):last-child {{ padding-right: 0 }}
}}
@media print {{
  @page {{ margin: 1.5cm }}
  body {{ max-width: none; padding: 0; font-size: 10pt }}
  h2, h3, summary {{ break-after: avoid }}
  tr, figure, .begin {{ break-inside: avoid }}
  {_ROWS} {{ break-inside: auto }}
  summary {{ list-style: none }}
  details::details-content {{ content-visibility: visible; display: block; height: auto }}
  {_CARD} pre {{ white-space: pre-wrap; overflow-wrap: anywhere; overflow: visible }}
  {_CARD} :is(.wide, .place) {{ overflow: visible }}
}}"""


# The feedback file of one student: one HTML page without script or network.

LONGEST_NAME = 200
MOST_TITLES = 4
UNDECIDED = (
    "<p>No file of the assignment could be read in your hand-in, and nobody has decided yet. Send your teacher the "
    "files that you meant to hand in. <code>course submit</code> packs them.</p>"
)
IN_DOUBT = (
    "<p>It is not clear which of your files counts for an exercise, and nobody has decided yet. Send your teacher the "
    "files that you meant to hand in. <code>course submit</code> packs them.</p>"
)
FAILED = "<p>The grader failed on a part of it. This is no fault of yours; it will be graded again.</p>"


def feedback(graded: Graded, mark: Mark) -> str:
    """Return the page of a mark with a report: the score, what to begin with, each exercise.

    It omits what a program printed, because with the seed of grading that may show the inputs of others.
    """
    report = mark.report
    assert report is not None
    name = _short(mark.row.name or mark.student)
    first = next_of(graded.course, report.exercises, partial(can_earn, graded.policy, mark.student, datetime.now(UTC)))
    main = [
        *_score(graded, mark, report),
        *(_changed(mark.before, report) if mark.before is not None else ()),
        *(_begin(first) if first is not None else _nothing_left(report)),
        "<h2>Exercises</h2>",
        _overview(graded, report.exercises),
        *(_exercise(exercise) for exercise in report.exercises if not report.is_unread),
        *_intake(report),
        *(_origin(graded, mark, report) if report.suite else ()),
    ]
    about = f"{report.course}: {graded.course.assignment.title}" if graded.course.assignment else report.course
    header = f'<p>{text(about)}</p>\n<h1>Feedback for <bdi dir="auto">{text(name)}</bdi></h1>'
    footer = "This file is for you alone: anyone who has it can read all of it."
    parts = {"header": header, "main": "\n".join(main), "footer": footer}
    body = "\n".join(f"<{tag}>\n{part}\n</{tag}>" for tag, part in parts.items())
    return whole_page(f"Feedback for {text(name)}: {text(report.course)}", STYLE, body)


def _score(graded: Graded, mark: Mark, report: Report) -> Iterator[str]:
    if mark.score is None:
        yield f'<p class="total">{"Excused" if mark.excused else "No score yet"}</p>'
        yield (UNDECIDED if report.is_unread else IN_DOUBT) if mark.held else FAILED if mark.failed else ""
    else:
        yield f'<p class="total">{points_of(mark.score, graded.policy.maximum)}</p>'
        yield from _sum(mark)
    yield from (f"<p>{text(note)}</p>" for note in _notes(mark))
    if not report.is_unread and (checks := [check for exercise in report.exercises for check in exercise.checks]):
        passed = sum(exercise.status == "pass" for exercise in report.exercises)
        done = f"{passed} of {plural(len(report.exercises), 'exercise')}, and {checks_pass(checks)}."
        yield f"<p>{done} No check is hidden: <code>course check</code> runs all of them.</p>"


def _held(report: Report) -> Iterator[str]:
    """Yield what was found in a hand-in of which nothing could be read."""
    found = [one_line(str(name)) for name in report.submission.get("found") or ()]
    if not found:
        yield "<p>Your hand-in is empty.</p>"
        return
    yield "<p>No file of the assignment could be read in your hand-in. This is in it:</p>"
    yield f"<ul>{''.join(f'<li>{text(name)}</li>' for name in found)}</ul>"


def _changed(earlier: Report, report: Report) -> Iterator[str]:
    """Yield which exercises are judged differently since a file was accepted."""
    old = {exercise.id: exercise for exercise in earlier.exercises}
    rows = [
        [_title(now), _result(was), _result(now)]
        for now in report.exercises
        if (was := old.get(now.id)) is not None and (was.score, was.status) != (now.score, now.status)
    ]
    yield "<h2>What changed</h2>"
    yield "<p>A file was accepted after the hand-in, and the exercises were judged again.</p>"
    yield _rows(["exercise", "before", "now"], rows) if rows else "<p>No exercise has another result.</p>"


def _result(exercise: ExerciseResult) -> str:
    return _points(exercise) or state_of(exercise).word


def _sum(mark: Mark) -> Iterator[str]:
    """Yield the parts of the score if it is not simply the sum of the checks."""
    assert mark.final is not None
    assert mark.score is not None
    first, *others = [[text(label), _signed(change)] for label, change in mark.final.steps]
    if others or mark.final.steps[0][0] != CHECKS:
        first = [first[0], points(mark.final.steps[0][1])]
        total = ["<strong>score</strong>", f"<strong>{points(mark.score)}</strong>"]
        yield _rows(["part of the score", "points"], [first, *others, total])


def _notes(mark: Mark) -> list[str]:
    """Return how the class changes the score, without what the table of its parts says already."""
    if mark.final is None:
        return []
    said = {label for label, _ in mark.final.steps}
    left = tuple(note for note in mark.final.notes if note not in said and not note.endswith(BY_HAND))
    return notes(replace(mark, final=replace(mark.final, notes=left)))


def _begin(first: Next) -> Iterator[str]:
    exercise = first.exercise
    yield '<section class="begin" aria-labelledby="begin">'
    yield f'<h2 id="begin">Begin with <a href="#{text(exercise.id)}">{_title(exercise)}</a></h2>'
    yield f"<p>{text(' '.join(first.why))}</p>"
    if exercise.first_failure is not None and exercise.status not in ("missing", "not_started"):
        yield f"<p>Look at this: {text(_message(exercise.first_failure))}</p>"
    commands = "".join(f"<li><code>{text(command)}</code> {text(effect)}</li>" for command, effect in first.commands)
    yield f"<ul>{commands}</ul>"
    if first.after:
        yield f"<p>After it: {text(named(first.after))}.</p>"
    yield "</section>"


def _nothing_left(report: Report) -> Iterator[str]:
    if all(exercise.status == "pass" for exercise in report.exercises):
        yield "<p>Every exercise passes. You have nothing left to do.</p>"


def _overview(graded: Graded, exercises: Sequence[ExerciseResult]) -> str:
    bonus = graded.policy.grading.bonus
    linked = any(exercise.status != "held" for exercise in exercises)
    rows = [
        [
            f'<a href="#{text(exercise.id)}">{_title(exercise)}</a>' if linked else _title(exercise),
            _state(state_of(exercise)),
            f"{_points(exercise)}{', a bonus' if exercise.id in bonus else ''}",
            f"{passing(exercise.checks)} of {len(exercise.checks)}"
            if exercise.checks and exercise.status != "held"
            else "",
        ]
        for exercise in exercises
    ]
    return _rows(["exercise", "state", "points", "checks"], rows)


def _exercise(exercise: ExerciseResult) -> str:
    """Return the card of an exercise, the points of its checks, and the other failures."""
    parts = [exercise_card(exercise, styled=False)]
    if exercise.status not in ("missing", "not_started", "held") and exercise.checks:
        rows = [[text(check.title), _state(check_state(check)), _points(check)] for check in exercise.checks]
        is_open = "" if exercise.status == "pass" else " open"
        head = f"Points by check: {checks_pass(exercise.checks)}"
        parts.append(
            f'<details class="{NAME} rows"{is_open}><summary>{head}</summary>'
            f"{table(['check', 'state', 'points'], rows, words='words')}</details>"
        )
        parts += _others(exercise)
    return f'<section class="exercise" id="{text(exercise.id)}">{"".join(parts)}</section>'


def _others(exercise: ExerciseResult) -> Iterator[str]:
    """Yield what fails besides the check on the card: checks with the same mistake together, each line of code once."""
    first = exercise.first_failure
    others = [check for check in exercise.checks if check is not first]
    mistakes: dict[str, list[CheckResult]] = {}
    for check in others:
        if check_state(check).mark == "failed":
            mistakes.setdefault(check_text(check), []).append(check)
    if not_run := others_not_run(others):
        yield f"<p>{not_run}</p>"
    if first is not None and (same := mistakes.pop(check_text(first), [])):
        yield f"<p>{_same(same, exercise)}</p>"
    here = [checks for checks in mistakes.values() if _line(checks[0]) is not None and _line(checks[0]) == _line(first)]
    if here:
        failing = [check for checks in here for check in checks]
        items = (f"<li><strong>{text(check.title)}</strong><br>{text(_message(check))}</li>" for check in failing)
        yield f"<p>Other checks fail at the same line:</p><ul>{''.join(items)}</ul>"
    elsewhere = [checks for checks in mistakes.values() if checks not in here]
    if elsewhere:
        yield '<div class="more"><h3>Other failures</h3>'
    for checks in elsewhere:
        rest = f"<p>{_same(checks[1:], exercise)}</p>" if checks[1:] else ""
        yield f'<div class="{NAME} fail">{"".join(failure_parts(failure_view(checks[0])))}{rest}</div>'
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
    entries = notes_of_intake(report)
    if report.is_unread:
        yield from _held(report)
    if entries:
        yield f"<ul>{''.join(f'<li>{text(note)}</li>' for note in entries)}</ul>"
    elif not report.is_unread:
        yield "<p>Your files were read without problems.</p>"


def _origin(graded: Graded, mark: Mark, report: Report) -> Iterator[str]:
    """Yield everything the result depends on, except a secret seed."""
    facts = {
        "your files": str(report.submission.get("digest") or "not known"),
        "exercises and checks": report.suite,
        "seed of the inputs": _seed(graded),
        "device": report.device,
        "confined by": f"{report.isolation}, level {report.level}",
        "versions": listed([f"{name} {version}" for name, version in graded.runtime.items()]),
        "handed in": _time(graded, mark.final.handed_in if mark.final else None),
        "due": _time(graded, deadline(graded.policy, mark.student, 0)),
    }
    rows = (f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts.items() if value)
    yield "<h2>How this was graded</h2>"
    yield f"<dl>{''.join(rows)}</dl>"
    yield "<p>The same files, checks, seed and versions give the same result.</p>"
    yield "<p><code>course submit</code> shows the digest of your files, so you can see which version was graded.</p>"


def _seed(graded: Graded) -> str:
    """Return the seed only if it is the public one: any other may be used again."""
    if graded.seed is None:
        return "not known"
    if graded.seed == graded.course.seed:
        return f"{graded.seed}, the public one: course check uses the same inputs"
    return "secret: course check uses other inputs, made by the same rules"


def _time(graded: Graded, moment: datetime | None) -> str:
    zone = graded.policy.grading.zone
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M} ({zone})" if moment is not None else ""


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f'<div class="{NAME} rows">{table(head, rows, words="words")}</div>'


def _points(worth: ExerciseResult | CheckResult) -> str:
    """Return the points of an exercise or of a check; nothing if it was not judged."""
    if worth.status in NOT_JUDGED:
        return ""
    if isinstance(worth, CheckResult) and worth.bonus:
        return f"{points(worth.score)}, a bonus"
    if not worth.max_score:
        return "not counted here" if isinstance(worth, ExerciseResult) else ""
    return f"{points(worth.score)} of {points(worth.max_score)}"


def _signed(hundredths: int) -> str:
    return f"{'−' if hundredths < 0 else '+'}{points(abs(hundredths))}"


def _title(exercise: ExerciseResult) -> str:
    return text(f"{number(exercise.id)} {exercise.title}")


def _same(checks: Sequence[CheckResult], exercise: ExerciseResult) -> str:
    """Return a sentence about the other checks that fail because of a mistake."""
    finding = checks[0].finding if checks else None
    cause = (finding.known_as if finding is not None else None) or "mistake"
    if len(checks) == len(exercise.checks) - 1 > 1:
        return f"Every other check of the exercise fails because of the same {cause}."
    titles = [check.title for check in checks[:MOST_TITLES]]
    more = [f"{len(checks) - MOST_TITLES} more"] if len(checks) > MOST_TITLES else []
    fail = "This check fails" if len(checks) == 1 else "These checks fail"
    return f"{fail} because of the same {cause}: {text('; '.join([*titles, *more]))}."


def _state(state: State) -> str:
    return f'<span class="{state.mark}"><b aria-hidden="true">{SIGNS[state.mark]}</b> {state.word}</span>'


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
