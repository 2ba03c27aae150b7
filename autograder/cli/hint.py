"""`course hint`: the next hint for the last failure, from a question to the step."""

import argparse
import sys

from autograder.cli.exits import PASS
from autograder.course import find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.progress import read_progress, write_progress


def show_hint(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    if exercise is None:
        print("Every exercise passes: there is nothing to hint at.")
        return PASS
    standing = progress.of(exercise)
    if standing.status == "pass":
        print(f"{exercise.number} {exercise.title} passes: there is nothing to hint at.")
        return PASS
    if standing.status == "not_started" and exercise.id in progress.standings:
        print(f"{exercise.number} {exercise.title}: nothing is written yet, so there is nothing to hint at.")
        print(f"Each TODO in {course.exercises_dir.name}/{exercise.file} says what is to be written.")
        return PASS
    if not standing.hints:
        raise UsageError(f"no hint is due for {exercise.id}: run `course check {exercise.number}` first")
    progress = progress.after_hint(exercise)
    shown = progress.of(exercise).hints_shown
    print(f"{exercise.number} {exercise.title}: {standing.title}")
    print(f"Hint {shown} of {len(standing.hints)}  {standing.hints[shown - 1]}")
    if shown < len(standing.hints):
        print(f"Next  course hint {exercise.number}  hint {shown + 1} of {len(standing.hints)}")
    else:
        print(f"Next  course check {exercise.number}  that was the last hint")
    try:
        write_progress(course, progress)
    except OSError as error:
        print(f"course: which hints were shown could not be kept: {error.strerror} ({error.filename})", file=sys.stderr)
    return PASS
