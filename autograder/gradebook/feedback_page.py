"""The feedback file of one student: one HTML page without script or network, to be sent or laid where he finds it."""

from collections.abc import Iterator

from autograder.gradebook.feedback import notes, told
from autograder.gradebook.graded import Graded, Mark
from autograder.report import ExerciseResult
from autograder.report.html import exercise_card
from autograder.report.html_failure import table, text
from autograder.report.html_style import DARK, LIGHT, NAME, style
from autograder.report.words import STATES, checks_pass, number, points, points_of
from autograder.report.words import notes as notes_of_intake


def feedback(graded: Graded, mark: Mark) -> str:
    """Return the page about a mark whose report is there: what it comes to, then each exercise with its first failure.

    What a program printed is left out: under the seed of grading it may show the inputs of others.
    """
    report = mark.report
    assert report is not None
    title = f"{text(report.course)}: feedback for {text(mark.row.name or mark.student)}"
    parts = [f"<h1>{title}</h1>", *_total(graded, mark), _overview(report.exercises)]
    for exercise in report.exercises:
        parts.append(
            f'<section id="{text(exercise.id)}">{exercise_card(exercise, styled=False)}{_others(exercise)}</section>'
        )
    made = f"Your files: {text(str(report.submission.get('digest') or 'unknown'))}. Checks: {text(report.suite)}."
    parts.append(f"<footer>{made} `course submit` names the same digest of your files.</footer>")
    return _PAGE.format(title=title, style=_STYLE, body="\n".join(parts))


def _total(graded: Graded, mark: Mark) -> Iterator[str]:
    report = mark.report
    assert report is not None
    if mark.score is None:
        yield '<p class="total">No score yet</p>'
        yield "<p>The grader failed on a part of it, which is no fault of yours; it is to be graded again.</p>"
    else:
        yield f'<p class="total">{points_of(mark.score, graded.policy.maximum)}</p>'
    if mark.score is not None and mark.score != report.score:
        yield f"<p>The checks gave {points_of(report.score, report.max_score)}.</p>"
    for each in (*notes(mark), *notes_of_intake(report)):
        yield f"<p>{text(each)}</p>"


def _overview(exercises: tuple[ExerciseResult, ...]) -> str:
    rows = [
        [
            f'<a href="#{text(each.id)}">{number(each.id)} {text(each.title)}</a>',
            STATES[each.status].word,
            "" if each.status == "grader_error" else f"{points(each.score)} of {points(each.max_score)}",
            checks_pass(each.checks),
        ]
        for each in exercises
    ]
    return f'<div class="{NAME}">{table(["exercise", "state", "points", "checks"], rows, words="words")}</div>'


def _others(exercise: ExerciseResult) -> str:
    """Return the checks that do not pass besides the one on the card, with the reason of each."""
    first = exercise.first_failure
    if exercise.status in ("missing", "not_started"):
        return ""
    left = [each for each in exercise.checks if STATES[each.status].mark == "failed" and each is not first]
    if not left:
        return ""
    items = (f"<li><strong>{text(each.title)}</strong><br>{_lines(told(each))}</li>" for each in left)
    return f"<p>What else does not pass:</p><ul>{''.join(items)}</ul>"


def _lines(words: str) -> str:
    return "<br>".join(text(line) for line in words.splitlines())


def _vars(theme: dict[str, str]) -> str:
    return " ".join(f"--{name}: {theme[name]};" for name in ("ink", "soft", "paper", "key"))


_STYLE = f"""\
:root {{ color-scheme: light dark; {_vars(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_vars(DARK)} }} }}
@media print {{ :root {{ color-scheme: light; {_vars(LIGHT)} }} }}
body {{ color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif;
  margin: 2rem auto; max-width: 62rem; padding: 0 1rem }}
h1 {{ font-size: 1.4rem }}
.total {{ font-size: 1.3rem; font-weight: 600 }}
a {{ color: var(--key) }}
section {{ margin: 1.2rem 0 }}
section > p, section > ul, footer {{ color: var(--soft); font-size: .93rem }}
section li {{ margin: .3rem 0; overflow-wrap: anywhere }}
footer {{ overflow-wrap: anywhere; margin-top: 2rem }}
@media print {{ pre {{ white-space: pre-wrap !important }} }}
{style()}"""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
