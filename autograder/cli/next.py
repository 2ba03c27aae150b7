"""`course next`: move on. No order is locked: any exercise can be named, and checked, at any time."""

import argparse
import sys
from itertools import takewhile

from autograder.cli.screen import Command, Screen
from autograder.cli.written import write_json
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import resolve_exercise
from autograder.exits import PASS
from autograder.learner.progress import Progress, keep, read_progress
from autograder.learner.progress.events import Event, now
from autograder.report.words import plural, points

MOST_BYTES = 256 << 10
_MARKUP = str.maketrans("", "", "*`$")


def show_next(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else following(course, progress)
    left = progress.current(course)
    if exercise is None:
        if not write_json(options, {"exercise": None}):
            screen = Screen.of(options)
            screen.text("Every exercise passes.", indent=0)
            screen.next([("course check --all", "see it all pass once more")])
        return PASS
    if progress.here != exercise.id:
        kept = keep(course, [Event(now(), "next", exercise.id, "next")])
        if kept.problem:
            print(f"course: your progress could not be kept: {kept.problem.strerror}", file=sys.stderr)
    lesson = _lesson(course, exercise)
    if write_json(options, {"exercise": exercise.id, "title": exercise.title, "lesson": lesson}):
        return PASS
    _show(Screen.of(options), course, progress, exercise, left, lesson)
    return PASS


def following(course: Course, progress: Progress) -> Exercise | None:
    """Return the exercise to go on with: behind the current one, if that was tried, the next that never passed."""
    current = progress.current(course)
    if current is None or current.id != progress.here or not progress.of(current).runs:
        return current
    at = course.exercises.index(current)
    others = [*course.exercises[at + 1 :], *course.exercises[:at]]
    return next((each for each in others if not progress.of(each).ever_passed), current)


def _show(
    screen: Screen, course: Course, progress: Progress, exercise: Exercise, left: Exercise | None, lesson: list[str]
) -> None:
    count = len(progress.of(exercise).levels)
    screen.text(f"{exercise.number} {exercise.title}", indent=0, style="bold")
    for paragraph in lesson:
        screen.text(paragraph)
    screen.gap()
    needs = [course.exercise(each) for each in exercise.needs]
    screen.text(f"{points(exercise.points)} points" + (f", {plural(count, 'failure')} seen so far" if count else ""))
    if needs:
        titles = ", ".join(f"{each.number} {each.title}" for each in needs)
        screen.text(f"Builds on {titles}. What of it does not pass yet is stood in for.")
    if left is not None and left is not exercise and progress.of(left).runs:
        screen.text(f"{left.number} {left.title} does not pass yet; `course next {left.number}` goes back to it.")
    screen.gap()
    screen.next(_commands(course, exercise))


def _commands(course: Course, exercise: Exercise) -> list[Command]:
    file = f"{course.exercises_dir.name}/{exercise.file}"
    return [(f"edit {file}", "the lesson is at its top"), (f"course check {exercise.number}", "")]


def _lesson(course: Course, exercise: Exercise) -> list[str]:
    """Return the heading of the lesson in an exercise's file, and its first paragraph."""
    try:
        with (course.exercises_dir / exercise.file).open("rb") as stream:
            text = stream.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    lines = [line.strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines())]
    words = [line.removeprefix("#").strip() for line in lines if not line.startswith("# %%")]
    body = [each for each in words if not each.startswith("#")]
    while body and not body[0]:
        body.pop(0)
    paragraph = " ".join(takewhile(bool, body)).translate(_MARKUP)
    return [paragraph] if paragraph else []
