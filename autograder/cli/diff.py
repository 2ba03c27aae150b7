"""`course diff`: everything that is known about the last failure, without running anything again."""

import argparse

from autograder.cli.screen import Screen
from autograder.cli.written import write_json
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.exits import PASS
from autograder.learner.progress import read_progress
from autograder.learner.progress.digests import digest_of
from autograder.learner.progress.last import Last, read_last
from autograder.submission.own import own_source


def show_diff(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    last = read_last(course, exercise) if exercise else None
    if exercise is None or last is None:
        number = f" {exercise.number}" if exercise else " --all"
        raise UsageError(f"there is no failure to show: run `course check{number}` first")
    source = own_source(course, exercise)
    changed = (digest_of(source) if source is not None else None) != last.file
    data = {"exercise": last.exercise, "at": last.at, "changed_since": changed, "log": last.report.get("log", "")}
    if write_json(options, data):
        return PASS
    screen = Screen.of(options)
    if changed:
        screen.text(f"{exercise.file} has changed since this check: what follows is about what it was then.", indent=0)
        screen.gap()
    if last.failure is None:
        screen.text(f"{exercise.number} {exercise.title} passes: there is no difference to show.", indent=0)
        screen.next([(f"course check {exercise.number}", "")] if changed else [("course next", "")])
        return PASS
    _show(options, course, exercise, last)
    return PASS


def _show(options: argparse.Namespace, course: Course, exercise: Exercise, last: Last) -> None:
    from autograder.report.console import make_console
    from autograder.report.diff import render_evidence
    from autograder.report.glyphs import glyphs_for
    from autograder.results.reading import UNREADABLE, from_json

    try:
        [result] = from_json(last.report).exercises
    except UNREADABLE as error:
        raise UsageError(
            f"the last report on {exercise.id} is of another version: run `course check {exercise.number}` again"
        ) from error
    check = result.first_failure
    if check is None:
        return
    finding = check.finding
    following = [(f"course check {exercise.number}", "after your next edit")]
    if finding is not None and finding.kind == "misconception":
        following.insert(0, (f"course why {finding.id}", "what is behind it"))
    console = make_console(plain=options.plain, color=False if options.no_color else None)
    render_evidence(
        console,
        result,
        check,
        glyphs=glyphs_for(console.encoding),
        plain=options.plain,
        file_path=course.exercises_dir / exercise.file,
        next_commands=following,
    )
