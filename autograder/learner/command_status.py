"""Show your progress in numbers: exercises, points, runs and hints."""

import argparse

from autograder.cli import CommandParser, Screen, add_json
from autograder.ending import PASS
from autograder.progress import effort, next_command, overview_json, part_sentences, write_json
from autograder.report import points

from .command_list import read_rows, show_current, show_title


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print how much is done, in numbers."""
    course, progress, rows = read_rows()
    command = next_command(course, progress, rows)
    if write_json(options.json, overview_json(course, progress, command[0], rows)):
        return PASS
    screen = Screen.of(options)
    show_title(screen, course, progress, rows)
    score = sum(row.score for row in rows)
    total = f"{points(score)} of {points(sum(exercise.points for exercise in course.exercises))} points"
    for sentence in part_sentences(course, progress, rows).values() or [total]:
        screen.text(sentence)
    for word in dict.fromkeys(row.word for row in rows):
        screen.text(f"{word}: {', '.join(row.exercise.number for row in rows if row.word == word)}")
    screen.text(effort(rows))
    show_current(screen, course, progress, rows, command)
    return PASS
