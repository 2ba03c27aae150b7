"""`course check`: run the checks on your own files, or on a submission, and explain the result."""

import argparse
import importlib
from collections.abc import Sequence
from contextlib import closing

from autograder.cli.key_progress import KeyProgress
from autograder.cli.question import ask_about
from autograder.cli.screen import Screen, make_console, warn
from autograder.course import Course, find_course, read_course
from autograder.learner.checking import (
    check_submission,
    confinement_warning,
    encouragement,
    exit_status,
    normalize_device,
    pause_advice,
    select_exercises,
)
from autograder.learner.json_output import write_json
from autograder.learner.next_commands import Command, after_check, after_submission
from autograder.learner.next_exercise import moved_on
from autograder.learner.progress import Progress, read_progress
from autograder.learner.progress.course_progress import ALL_AT_ONCE
from autograder.learner.progress.record import record
from autograder.results import Report
from autograder.submission.own_work import read_own


def check(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    before = progress = read_progress(course)
    own = options.submission is None
    exercises = select_exercises(course, progress, options.exercises, check_all=options.all, own=own)
    if own and not options.exercises and not options.all:
        _say_where(options, moved_on(course, progress))
    device = normalize_device(options.device)
    seed = course.seed if options.seed is None else options.seed
    submission = read_own(course, folder=options.submission)
    warn(confinement_warning(course, options.submission))
    with closing(KeyProgress(plain=options.plain)) as line:
        line.start([exercise.id for exercise in exercises])
        report = check_submission(
            course,
            exercises,
            submission,
            seed=seed,
            device=device,
            on_progress=line.on_progress,
            on_outcomes=line.on_outcomes,
            meanwhile=_load_rendering if options.json != "-" else lambda: None,
        )
    if own:
        # Saved before anything is shown, because nobody may read the output to its end.
        saved = record(course, report, submission.sources, command="check" if len(exercises) == 1 else ALL_AT_ONCE)
        warn(saved.warning)
        progress = saved.progress
    if not write_json(options.json, report.to_json()):
        _show(options, course, report, progress, own=own)
        if own and len(exercises) == 1:
            ask_about(options, course, exercises[0], before.of(exercises[0]), progress.of(exercises[0]))
    return exit_status(report)


def _load_rendering() -> None:
    """Import what shows a report: this takes as long as a worker needs to start."""
    importlib.import_module("autograder.report.terminal")


def _say_where(options: argparse.Namespace, sentence: str) -> None:
    """Print which exercise is checked, if it is another one than the last time."""
    if sentence and options.json != "-":
        screen = Screen.of(options)
        screen.text(sentence, indent=0)
        screen.gap()


def _show(options: argparse.Namespace, course: Course, report: Report, progress: Progress, *, own: bool) -> None:
    """Print one exercise in full, or several as a table with the first failure."""
    commands = after_check(course, report, progress) if own else after_submission(course, report, options.submission)
    if len(report.exercises) == 1 and own:
        _show_exercise(options, course, report, progress, commands)
        return
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import render_report

    console = make_console(options)
    paths = {exercise.file: course.exercises_dir / exercise.file for exercise in course.exercises} if own else {}
    glyphs = glyphs_for(console.encoding)
    render_report(console, report, file_paths=paths, next_commands=commands, glyphs=glyphs, plain=options.plain)


def _show_exercise(
    options: argparse.Namespace, course: Course, report: Report, progress: Progress, commands: Sequence[Command]
) -> None:
    """Print the result of one exercise, then advice if there is any, and the next commands last."""
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import render_exercise

    console = make_console(options)
    [result] = report.exercises
    exercise = course.exercise(result.id)
    standing = progress.of(exercise)
    advice = pause_advice(exercise, standing)
    if news := encouragement(standing):
        screen = Screen.of(options)
        screen.line((screen.glyphs.passed, "green"), f" {news}") if not screen.plain else screen.text(news)
    render_exercise(
        console,
        result,
        file_path=course.exercises_dir / exercise.file,
        next_commands=() if advice else commands,
        glyphs=glyphs_for(console.encoding),
        plain=options.plain,
        hints_shown=max(standing.hints_shown, 1),
        attempt=standing.attempts,
        unused_hints=standing.hints[standing.hints_shown :],
    )
    if advice:
        screen = Screen.of(options)
        screen.gap()
        screen.text(advice)
        screen.gap()
        screen.next(commands)
