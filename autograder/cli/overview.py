"""`course` and `course list`: where you are, and the one next command."""

import argparse

from rich.text import Text

from autograder.cli.exits import PASS
from autograder.course import Course, Exercise, find_course, read_course
from autograder.progress import Progress, Standing, read_progress
from autograder.report.glyphs import Glyphs, glyphs_for
from autograder.report.terminal import make_console
from autograder.report.words import STATES, points


def show_overview(options: argparse.Namespace) -> int:
    """Say where you are, what came of the last check, and what to do next."""
    return _show(options, short=True)


def show_list(options: argparse.Namespace) -> int:
    """List every exercise with its last verdict."""
    return _show(options, short=False)


def _show(options: argparse.Namespace, *, short: bool) -> int:
    course = read_course(find_course())
    progress = read_progress(course)
    console = make_console(plain=options.plain, color=False if options.no_color else None)
    glyphs = glyphs_for(console.encoding)
    passing = sum(progress.of(each).status == "pass" for each in course.exercises)
    console.print(Text(f"{course.title}: {passing} of {len(course.exercises)} exercises pass", "bold"))
    current = progress.current(course)
    for exercise in course.exercises:
        if not short or exercise is current:
            console.print(_line(exercise, progress.of(exercise), glyphs, current is exercise, options.plain))
    for line in _last(course, progress, current, short):
        console.print(line, soft_wrap=True)
    return PASS


def _line(exercise: Exercise, standing: Standing, glyphs: Glyphs, here: bool, plain: bool) -> Text:
    state = STATES.get(standing.status, STATES["not_started"])  # type: ignore[call-overload]
    word = "BROKEN AGAIN" if standing.ever_passed and standing.status != "pass" else state.word
    checks = f"{standing.passing} of {standing.checks} checks" if standing.checks else ""
    worth = f"{points(standing.score)} of {points(exercise.points)} points"
    if plain:
        return Text(f"Exercise {exercise.number}, {exercise.title}: {word}. {checks and checks + '. '}{worth}.")
    mark = glyphs.marker if here else " "
    sign = getattr(glyphs, state.mark)
    row = f"{exercise.number} {exercise.title:<24} "
    return Text.assemble(
        f"{mark} ", (sign, state.style), " ", row, (f"{word:<12} ", state.style), f"{checks:<16} {worth}"
    )


def _last(course: Course, progress: Progress, current: Exercise | None, short: bool) -> list[Text]:
    if current is None:
        return [Text("Next  course check --all  see it all pass once more")]
    standing = progress.of(current)
    lines = []
    if short and standing.title and standing.status != "not_started":
        lines.append(Text(f"First failure: {standing.title}"))
    what = f"edit {course.exercises_dir.name}/{current.file}, then: " if standing.status == "not_started" else ""
    return [*lines, Text(f"Next  {what}course check {current.number}")]
