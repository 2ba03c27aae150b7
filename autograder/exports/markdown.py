"""A student's result in Markdown: for a job summary, a comment on a pull request, or the body of a release."""

import re

from autograder.gradebook import Graded, Mark
from autograder.report import STATES, check_state, flag_sentences, number, one_line, plural, points, points_of, state_of
from autograder.results import NOT_JUDGED, CheckResult, ExerciseResult, Report

from .feedback import check_text, notes, others_not_run
from .formats import Format, each

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
