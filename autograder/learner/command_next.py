"""Move on to the next exercise, or to the one you name.

No exercise is locked: you may move to any of them at any time. Without EX it stays with an exercise that does not
pass yet, except with --skip. It prints the beginning of the lesson.
"""

import argparse

from autograder.cli import CommandParser, Screen, add_exercise, add_json, warn
from autograder.course import Course, Exercise, find_course, read_course, resolve_exercise
from autograder.ending import PASS
from autograder.progress import (
    Progress,
    edit_command,
    following_exercise,
    is_missing,
    lesson_paragraphs,
    missing_sentence,
    move_to,
    read_progress,
    stub_command,
    unfinished_exercise,
    write_json,
)
from autograder.report import plural, points


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser, "the following one")
    parser.add_argument("--skip", action="store_true", help="leave an exercise that does not pass yet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    unfinished = None if options.exercise or options.skip else unfinished_exercise(course, progress)
    if unfinished is not None:
        return _stay(options, course, unfinished)
    following = following_exercise(course, progress, skip=options.skip)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else following
    if exercise is None:
        if not write_json(options.json, {"exercise": None}):
            screen = Screen.of(options)
            screen.text("Every exercise passes.", indent=0)
            screen.next([("course check --all", "see them all pass once more")])
        return PASS
    warn(move_to(course, progress, exercise))
    lesson = lesson_paragraphs(course, exercise)
    if not write_json(options.json, {"exercise": exercise.id, "title": exercise.title, "lesson": lesson}):
        _show(Screen.of(options), course, progress, exercise, lesson)
    return PASS


def _stay(options: argparse.Namespace, course: Course, exercise: Exercise) -> int:
    """Say that the current exercise does not pass yet, and how to leave it."""
    if not write_json(options.json, {"exercise": exercise.id, "title": exercise.title, "unfinished": True}):
        screen = Screen.of(options)
        screen.text(f"{exercise.number} {exercise.title} does not pass.", indent=0)
        missing = is_missing(course, exercise)
        if missing:
            screen.text(missing_sentence(course, exercise))
        screen.gap()
        check = (f"course check {exercise.number}", "what to do next in it")
        screen.next(
            [stub_command(course, exercise) if missing else check, ("course next --skip", "leave it for later")]
        )
    return PASS


def _show(screen: Screen, course: Course, progress: Progress, exercise: Exercise, lesson: list[str]) -> None:
    screen.text(f"{exercise.number} {exercise.title}", indent=0, style="bold")
    missing = is_missing(course, exercise)
    if missing:
        screen.text(missing_sentence(course, exercise))
    for paragraph in lesson:
        screen.text(paragraph)
    screen.gap()
    failures = sum(not key.startswith("todo:") for key in progress.of(exercise).levels)  # the rest are first steps
    seen = f", {plural(failures, 'failure')} seen so far" if failures else ""
    minutes = f", about {exercise.minutes} min" if exercise.minutes else ""
    screen.text(f"{points(exercise.points)} points{minutes}{seen}")
    needs = [course.exercise(needed) for needed in exercise.needs]
    if needs:
        titles = ", ".join(f"{needed.number} {needed.title}" for needed in needs)
        which = "it" if len(needs) == 1 else "each of them"
        screen.text(f"Builds on {titles}. A reference part replaces {which} until it passes.")
    left = progress.current(course)
    if left is not None and left is not exercise and progress.of(left).runs:
        screen.text(f"{left.number} {left.title} does not pass; `course next {left.number}` goes back to it.")
    screen.gap()
    begin = edit_command(course, exercise, "the lesson is at its top")
    screen.next([stub_command(course, exercise) if missing else begin, (f"course check {exercise.number}", "")])
