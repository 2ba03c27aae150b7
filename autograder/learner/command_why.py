"""Explain the mistake behind your last failure.

It shows what is wrong, your line, a question, and numbers or an experiment that show it. After a pass it shows the line
of the solution too.
"""

import argparse
from dataclasses import asdict

from autograder.cli import CommandParser, add_json, make_console
from autograder.course import find_course, read_course
from autograder.ending import PASS
from autograder.progress import after_explanation, find_page, read_progress, write_json
from autograder.report import WhyPage, glyphs_for, render_why


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    does = "a misconception by its id, or an exercise for its last failure (default: your last failure)"
    parser.add_argument("id", nargs="?", metavar="ID", help=does)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    page, exercise = find_page(course, progress, options.id)
    if write_json(options.json, asdict(page)):
        return PASS

    console = make_console(options)
    lesson = f"{course.exercises_dir.name}/{exercise.file}" if exercise else ""
    fields = {**asdict(page), "exercise": f"{exercise.number} {exercise.title}" if exercise else page.exercise}
    commands = after_explanation(progress, exercise) if exercise and not options.has_keys else []
    rendered = WhyPage(**fields, lesson=lesson)
    render_why(console, rendered, glyphs=glyphs_for(console.encoding), plain=options.plain, next_commands=commands)
    return PASS
