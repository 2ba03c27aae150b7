"""Show the next hint for your last failure.

Hints go from a question to the step. After the first one, the next hint comes when you have edited your file, or with
--now.
"""

import argparse

from autograder.cli import CommandParser, Screen, add_exercise, add_json, warn
from autograder.course import Course, Exercise, find_course, read_course, resolve_exercise
from autograder.ending import PASS
from autograder.progress import (
    StartHint,
    after_hint,
    after_start,
    digest_of,
    no_hint_reason,
    own_source,
    read_progress,
    start_of_file,
    take_hint,
    write_json,
)


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    parser.add_argument("--now", action="store_true", help="show the next hint without an edit")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. After the first hint, the next one needs an edit, or `--now`."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    screen = Screen.of(options)
    reason = no_hint_reason(course, progress, exercise)
    if exercise is None or reason:
        nothing = {"exercise": exercise.id if exercise else None, "hint": None, "why": reason}
        if not write_json(options.json, nothing):
            for sentence in reason:
                screen.text(sentence, indent=0)
        return PASS
    if start := start_of_file(course, exercise, progress.of(exercise)):
        return _show_start(options, course, exercise, start)
    source = own_source(course, exercise)
    digest = digest_of(source) if source is not None else None
    standing = progress.of(exercise)
    shown = take_hint(course, exercise, standing, digest, at_once=options.now)
    warn(shown.warning)
    level, text = len(shown.hints), shown.hints[-1]
    failure = {"exercise": exercise.id, "check": standing.check, "finding": standing.finding}
    hint = {"hint": level, "hints": shown.total, "text": text, "waits_for_an_edit": shown.waits_for_edit}
    if write_json(options.json, {**failure, **hint}):
        return PASS
    screen.text(f"{exercise.number} {exercise.title}: {shown.title}", indent=0)
    screen.text(text, label=f"Hint {level} of {shown.total}", indent=0)
    if shown.waits_for_edit:
        screen.text(f"Hint {level + 1} comes after you edit {exercise.file}.", indent=0)
    screen.gap()
    screen.next(after_hint(course, exercise, level, shown.total))
    return PASS


def _show_start(options: argparse.Namespace, course: Course, exercise: Exercise, start: StartHint) -> int:
    warn(start.warning)
    hint = {"hint": start.level, "hints": start.total, "text": start.text, "waits_for_an_edit": False}
    if write_json(options.json, {"exercise": exercise.id, "todo": start.todo.name, **hint}):
        return PASS
    screen = Screen.of(options)
    screen.text(f"{exercise.number} {exercise.title}: how to begin {start.todo.name}", indent=0)
    screen.text(start.text, label=start.label, indent=0)
    screen.gap()
    screen.next(after_start(course, exercise, start))
    return PASS
