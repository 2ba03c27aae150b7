"""`course check`: run the checks on your own files, or on somebody's, and explain the verdict."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.screen import Screen
from autograder.cli.waiting import Waiting
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.course.suite import load_suite
from autograder.exits import FAIL, GRADER, PASS
from autograder.learner.progress import Progress, Standing, read_progress, write_whole
from autograder.learner.progress.record import record
from autograder.learner.progress.standing import ALL_AT_ONCE, BURST
from autograder.runner.runner import Runner
from autograder.submission import Submission
from autograder.submission.own import NOTEBOOKS, read_own, unconfined

if TYPE_CHECKING:
    from autograder.results import Report

ALL = "all"
DEVICES = ("cpu", "cuda", "mps")


def check(options: argparse.Namespace) -> int:
    """Run the command. The worker is started first: torch takes longer to load than everything else together."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercises = _wanted(course, progress, options)
    device = known_device(options.device)
    seed = course.seed if options.seed is None else options.seed
    submission = read_own(course, folder=options.submission)
    warn_unconfined(course, options.submission)
    waiting = Waiting(plain=options.plain)
    with closing(waiting):
        report = checked(course, exercises, submission, seed=seed, device=device, on_progress=waiting.on_progress)
    own = options.submission is None
    if own:
        progress = remember(course, report, submission.sources, "check" if len(exercises) == 1 else ALL_AT_ONCE)
    _show(options, course, report, progress, own)
    return exit_status(report)


def checked(
    course: Course,
    exercises: Sequence[Exercise],
    submission: Submission,
    *,
    seed: int,
    device: str = "cpu",
    on_progress: Callable[[str, int, int], None],
) -> "Report":
    """Return the report on some exercises of a submission, with its evidence; `on_progress` hears of new keys."""
    needed = [each for each in course.exercises if any(each in course.with_needs(one) for one in exercises)]
    suite = load_suite(course, needed)
    with Runner(suite, seed=seed, device=device, shared=True) as runner:
        if any(each.file in submission.sources for each in exercises):
            runner.prepare()
        from autograder.judge.grader import Grader

        with Grader(suite, seed=seed, device=device, evidence=True, on_progress=on_progress) as grader:
            return grader.grade(submission, exercises, runner)


def warn_unconfined(course: Course, submission: Path | None) -> None:
    """Say that somebody's files are run with the rights of who checks them; the course's own need no such word."""
    if submission is not None and submission.resolve() not in (course.solutions_dir, course.exercises_dir):
        print(f"course: {unconfined(submission)}", file=sys.stderr)


def known_device(name: str) -> str:
    """Return the device as it was named, or refuse it; whether the machine has it only the worker knows."""
    if name.split(":")[0] not in DEVICES:
        raise UsageError(f"no device is called {name!r}; there are {', '.join(DEVICES)}")
    return "cpu" if name.startswith("cpu:") else name  # there is one


def exit_status(report: "Report") -> int:
    """Return 0 if all pass, 4 if the grader failed, else 1."""
    if "grader_error" in report.statuses:
        return GRADER
    return PASS if report.statuses == {"pass"} else FAIL


def _wanted(course: Course, progress: Progress, options: argparse.Namespace) -> tuple[Exercise, ...]:
    if options.all or options.exercises == [ALL]:
        return course.exercises
    if options.exercises:
        named = {resolve_exercise(course, word).id for word in options.exercises}
        return tuple(each for each in course.exercises if each.id in named)
    if options.submission is not None:
        return course.exercises
    return (progress.current(course) or course.exercises[-1],)


def remember(course: Course, report: "Report", sources: Mapping[str, bytes], command: str) -> Progress:
    """Keep what came of a check of one's own files, before anything is shown, and return where that leads."""
    kept = record(course, report, sources, command=command)
    if kept.problem:
        reason = f"{kept.problem.strerror} ({kept.problem.filename})"
        print(f"course: your progress could not be kept: {reason}", file=sys.stderr)
    return kept.progress


def _show(options: argparse.Namespace, course: Course, report: "Report", progress: Progress, own: bool) -> None:
    if options.json is not None:
        text = json.dumps(report.to_json(), indent=1, ensure_ascii=options.json == "-") + "\n"
        if options.json == "-":
            sys.stdout.write(text)
            return
        write_whole(Path(options.json), text)
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import make_console, render_report

    console = make_console(plain=options.plain, color=False if options.no_color else None)
    glyphs = glyphs_for(console.encoding)
    if len(report.exercises) == 1 and own:
        _show_one(options, course, report, progress)
        return
    paths = {each.file: course.exercises_dir / each.file for each in course.exercises} if own else {}
    following = _next(course, report, progress) if own else _others(course, report, options.submission)
    render_report(console, report, file_paths=paths, next_commands=following, glyphs=glyphs, plain=options.plain)


def _show_one(options: argparse.Namespace, course: Course, report: "Report", progress: Progress) -> None:
    """Show the verdict on one exercise, what the runs so far suggest, and the next commands last."""
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import make_console, render_exercise

    console = make_console(plain=options.plain, color=False if options.no_color else None)
    [result] = report.exercises
    following = _next(course, report, progress)
    exercise = course.exercise(result.id)
    standing = progress.of(exercise)
    advice = advice_for(exercise, standing)
    render_exercise(
        console,
        result,
        file_path=course.exercises_dir / f"{result.id}.py",
        next_commands=() if advice else following,
        glyphs=glyphs_for(console.encoding),
        plain=options.plain,
        log=report.log,
        hints_shown=max(standing.hints_shown, 1),
        attempt=standing.attempts,
        unused_hints=standing.hints[standing.hints_shown :],
    )
    if advice:
        screen = Screen.of(options)
        screen.gap()
        screen.text(advice)
        screen.gap()
        screen.next(following)


def advice_for(exercise: Exercise, standing: Standing) -> str:
    """Return the line that follows many small edits in a short time; nothing where there were none."""
    if not standing.pausing:
        return ""
    return f"{BURST} runs in a minute. `course diff {exercise.number}` shows all that was measured."


def _others(course: Course, report: "Report", submission: Path) -> Sequence[tuple[str, str]]:
    """Return the commands that show the failures after the first, which is shown."""
    failing = [each for each in report.exercises if each.status not in ("pass", "not_started", "missing")]
    return [
        (f"course check {course.exercise(each.id).number} --submission {submission}", f"what fails in {each.title}")
        for each in failing[1:4]
    ]


def _next(course: Course, report: "Report", progress: Progress) -> Sequence[tuple[str, str]]:
    from autograder.report.words import shown_first

    failing = shown_first(report)
    if failing is None:
        return _after_pass(course, report, progress)
    exercise = course.exercise(failing.id)
    again = f"course check {exercise.number}"
    if failing.status == "grader_error":
        return [(again, "once more"), ("course doctor", "what this machine has and lacks")]
    failure = failing.first_failure
    finding = failure.finding if failure else None
    place = finding.place if finding else None
    own = course.exercises_dir / exercise.file
    if place and place.cell is not None:
        own = course.exercises_dir / NOTEBOOKS / place.file
    file = os.path.relpath(own)
    if failing.status in ("not_started", "missing"):
        return [(f"edit {file}", "each TODO says what is to be written"), (again, "after your next edit")]
    at = f":{place.line}" if place and place.file == exercise.file else ""
    commands = [(f"edit {file}{at}", f"then {again}")]
    standing = progress.of(exercise)
    if standing.hints_shown < len(standing.hints):
        level = f"hint {standing.hints_shown + 1} of {len(standing.hints)}, after an edit"
        commands.append((f"course hint {exercise.number}", level))
    if finding and finding.kind == "misconception":
        commands.append((f"course why {finding.id}", "what is behind it"))
    elif finding and finding.evidence:
        commands.append((f"course diff {exercise.number}", "all that was measured"))
    return commands


def _after_pass(course: Course, report: "Report", progress: Progress) -> Sequence[tuple[str, str]]:
    """Return the way on, and before it the course's own solution where one exercise was checked."""
    commands = []
    if len(report.exercises) == 1:
        exercise = course.exercise(report.exercises[0].id)
        if (course.solutions_dir / exercise.file).is_file():
            commands.append((f"course solution {exercise.number}", "how the course does it"))
    following = progress.current(course)
    if following is not None:
        commands.append(("course next", f"on to {following.number} {following.title}"))
    return commands
