"""Show every measurement of your last failure.

Your values stand beside the expected ones. Nothing runs again.
"""

import argparse

from autograder.cli import CommandParser, Screen, add_exercise, add_json, make_console
from autograder.course import Course, Exercise, find_course, read_course, resolve_exercise
from autograder.ending import PASS
from autograder.progress import LastReport, evidence_json, has_changed, read_last_check, read_progress, write_json
from autograder.report import glyphs_for, render_evidence, render_prints
from autograder.submission import is_missing, missing_sentence, stub_command


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    named = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    last = read_last_check(course, named)
    exercise = course.exercise(last.exercise["id"])
    changed = has_changed(course, exercise, last)
    if write_json(options.json, evidence_json(last, changed=changed)):
        return PASS
    screen = Screen.of(options)
    if is_missing(course, exercise):
        screen.text(missing_sentence(course, exercise), indent=0)
        screen.gap()
        screen.next([stub_command(course, exercise)])
        return PASS
    if changed:
        screen.text(f"{exercise.file} has changed since this check. The check was of the earlier version.", indent=0)
        screen.gap()
    if last.failure is None:
        screen.text(f"{exercise.number} {exercise.title} passes: there is no difference to show.", indent=0)
        _show_prints(options, last)
        screen.next([(f"course check {exercise.number}", "")] if changed else [("course next", "")])
        return PASS
    _show_evidence(options, course, exercise, last)
    return PASS


def _show_prints(options: argparse.Namespace, last: LastReport) -> None:
    console = make_console(options)
    prints = last.result.prints
    render_prints(console, prints, glyphs=glyphs_for(console.encoding), plain=options.plain)


def _show_evidence(options: argparse.Namespace, course: Course, exercise: Exercise, last: LastReport) -> None:
    result = last.result
    check = result.first_failure
    if check is None:
        return
    finding = check.finding
    commands = [(f"course check {exercise.number}", "after your next edit")]
    if finding is not None and finding.known_as:
        commands.insert(0, (f"course why {finding.id}", f"explain the {finding.known_as}"))
    console = make_console(options)
    render_evidence(
        console,
        result,
        check,
        glyphs=glyphs_for(console.encoding),
        plain=options.plain,
        file_path=course.exercises_dir / exercise.file,
        next_commands=[] if options.has_keys else commands,
    )
