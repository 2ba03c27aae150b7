"""Show your progress as one text or HTML page.

It contains none of your code and no name. What you wrote in your diary stands at its end.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from autograder.cli import CommandParser, Screen, add_json, say
from autograder.course import Course, find_course, read_course, write_atomically
from autograder.ending import PASS
from autograder.progress import (
    Progress,
    ProgressLine,
    read_diary,
    read_last,
    read_progress,
    report_json,
    rows_of,
    summary,
    write_json,
)

# The progress as one HTML page.


def progress_page(course: Course, progress: Progress, lines: Sequence[ProgressLine]) -> str:
    """Return the page. Nothing runs again for it."""
    from autograder.report import exercise_card, render  # and rich, which the text does not need

    last = [read_last(course, line.row.exercise) for line in lines if line.row.mark == "passed"]
    return render(
        "learner/templates/progress.html.j2",
        title=f"{course.title}: my progress",
        sentences=summary(course, progress, lines),
        lines=lines,
        kinds={"passed": "pass", "failed": "fail", "problem": "fail"},
        passed=[one.result for one in last if one and one.result.status == "pass" and one.result.pictures],
        card=partial(exercise_card, styled=False),
        diary=_diary(course),
    )


def _diary(course: Course) -> list[tuple[str, str]]:
    """Return what the learner wrote when exercises passed, each with the number and the title of its exercise."""
    titles = {exercise.id: f"{exercise.number} {exercise.title}" for exercise in course.exercises}
    return [(titles.get(entry.exercise, entry.exercise), entry.words) for entry in read_diary(course)]


# The command.


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as one HTML page")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    lines = [ProgressLine(row) for row in rows_of(course, progress)]
    if options.html is not None:
        write_atomically(options.html, progress_page(course, progress, lines))
        say(f"Your progress is in {options.html}")
        return PASS
    diary = _diary(course)
    if write_json(options.json, {**report_json(course, progress, lines), "diary": diary}):
        return PASS
    screen = Screen.of(options)
    screen.text(f"{course.title}: my progress", indent=0, style="bold")
    for sentence in summary(course, progress, lines):
        screen.text(sentence)
    screen.gap()
    for line in lines:
        screen.text(line.sentence)
    if diary:
        screen.gap()
        screen.text("What was wrong, in your words", style="bold")
    for title, words in diary:
        screen.text(f"{title}: {words}")
    return PASS
