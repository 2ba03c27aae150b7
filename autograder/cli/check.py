"""`course check`: run the checks on your own files, or on somebody's, and explain the verdict."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.exits import FAIL, GRADER, PASS
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.judge.runner import Runner
from autograder.judge.suite import load_suite
from autograder.progress import Progress, read_progress, write_progress, write_whole
from autograder.submission import Caps, Submission, read_submission

if TYPE_CHECKING:
    from autograder.report import Report

DEVICES = ("cpu", "cuda", "mps")


def check(options: argparse.Namespace) -> int:
    """Run the command. The worker is started first: torch takes longer to load than everything else together."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercises = _wanted(course, progress, options)
    device = known_device(options.device)
    suite = load_suite(
        course, [each for each in course.exercises if any(each in course.with_needs(one) for one in exercises)]
    )
    seed = course.seed if options.seed is None else options.seed
    submission = _submission(course, options.submission)
    with Runner(suite, seed=seed, device=device, shared=True) as runner:
        if any(each.file in submission.sources for each in exercises):
            runner.prepare()
        from autograder.judge.grader import Grader

        with Grader(suite, seed=seed, device=device, evidence=True) as grader:
            report = grader.grade(submission, exercises, runner)
    own = options.submission is None
    if own:
        progress = remember(course, progress, report)
    _show(options, course, report, progress, own)
    return exit_status(report)


def known_device(name: str) -> str:
    """Return the device as it was named, or refuse it; whether the machine has it only the worker knows."""
    if name.split(":")[0] not in DEVICES:
        raise UsageError(f"no device is called {name!r}; there are {', '.join(DEVICES)}")
    return name


def exit_status(report: "Report") -> int:
    """Return 0 if all pass, 4 if the grader failed, else 1."""
    if "grader_error" in report.statuses:
        return GRADER
    return PASS if report.statuses == {"pass"} else FAIL


def _wanted(course: Course, progress: Progress, options: argparse.Namespace) -> tuple[Exercise, ...]:
    if options.all:
        return course.exercises
    if options.exercises:
        named = {resolve_exercise(course, word).id for word in options.exercises}
        return tuple(each for each in course.exercises if each.id in named)
    if options.submission is not None:
        return course.exercises
    return (progress.current(course) or course.exercises[-1],)


def _submission(course: Course, folder: Path | None) -> Submission:
    caps = Caps(source_kib=course.limits.source_kib)
    return read_submission(folder if folder is not None else course.exercises_dir, course.files, caps)


def remember(course: Course, progress: Progress, report: "Report") -> Progress:
    """Keep what came of a check of one's own work, and return where the learner now is."""
    for result in report.exercises:
        if result.status != "grader_error":
            progress = progress.after(result)
    try:
        write_progress(course, progress)
    except OSError as error:
        print(f"course: your progress could not be kept: {error.strerror} ({error.filename})", file=sys.stderr)
    return progress


def _show(options: argparse.Namespace, course: Course, report: "Report", progress: Progress, own: bool) -> None:
    if options.json is not None:
        text = json.dumps(report.to_json(), indent=1, ensure_ascii=options.json == "-") + "\n"
        if options.json == "-":
            sys.stdout.write(text)
            return
        write_whole(Path(options.json), text)
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import make_console, render_exercise, render_report

    console = make_console(plain=options.plain, color=False if options.no_color else None)
    glyphs = glyphs_for(console.encoding)
    paths = {each.file: course.exercises_dir / each.file for each in course.exercises} if own else {}
    following = _next(course, report, progress) if own else _others(course, report, options.submission)
    if len(report.exercises) == 1 and own:
        [exercise] = report.exercises
        render_exercise(
            console,
            exercise,
            file_path=paths[f"{exercise.id}.py"],
            next_commands=following,
            glyphs=glyphs,
            plain=options.plain,
            log=report.log,
        )
    else:
        render_report(console, report, file_paths=paths, next_commands=following, glyphs=glyphs, plain=options.plain)


def _others(course: Course, report: "Report", submission: Path) -> Sequence[tuple[str, str]]:
    """Return the commands that show the failures after the first, which is shown."""
    failing = [each for each in report.exercises if each.status not in ("pass", "not_started", "missing")]
    return [
        (f"course check {course.exercise(each.id).number} --submission {submission}", f"what fails in {each.title}")
        for each in failing[1:4]
    ]


def _next(course: Course, report: "Report", progress: Progress) -> Sequence[tuple[str, str]]:
    failing = next((each for each in report.exercises if each.status != "pass"), None)
    if failing is None:
        following = progress.current(course)
        return [(f"course check {following.number}", f"goes on with {following.title}")] if following else []
    exercise = course.exercise(failing.id)
    again = (f"course check {exercise.number}", "after your next edit")
    if failing.status == "not_started":
        file = os.path.relpath(course.exercises_dir / exercise.file)
        return [(f"edit {file}", "each TODO says what is to be written"), again]
    standing = progress.of(exercise)
    if standing.hints_shown < len(standing.hints):
        hint = (f"course hint {exercise.number}", f"hint {standing.hints_shown + 1} of {len(standing.hints)}")
        return [hint, again]
    return [again]
