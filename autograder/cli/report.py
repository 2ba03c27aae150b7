"""`course report`: a learner's progress as one text or page, without code and without a name."""

import argparse

from autograder.cli.screen import Screen, say
from autograder.course import find_course, read_course
from autograder.course.storage import write_atomically
from autograder.exits import PASS
from autograder.learner.json_output import write_json
from autograder.learner.overview import rows_of
from autograder.learner.progress import read_progress
from autograder.learner.progress_report import ProgressLine, report_json, summary


def show_report(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    lines = [ProgressLine(row) for row in rows_of(course, progress)]
    if options.html is not None:
        from autograder.learner.progress_page import progress_page

        write_atomically(options.html, progress_page(course, progress, lines))
        say(f"Your progress is in {options.html}")
        return PASS
    if write_json(options.json, report_json(course, progress, lines)):
        return PASS
    screen = Screen.of(options)
    screen.text(f"{course.title}: my progress", indent=0, style="bold")
    for sentence in summary(course, progress, lines):
        screen.text(sentence)
    screen.gap()
    for line in lines:
        screen.text(line.sentence)
    return PASS
