"""`course hint`: the next hint for the last failure, from a question to the step."""

import argparse
import sys

from autograder.cli.exits import PASS
from autograder.cli.screen import Command, Screen
from autograder.cli.written import write_json
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.progress import Progress, Standing, keep, read_progress
from autograder.progress.digests import file_digest
from autograder.progress.events import Event, now
from autograder.progress.last import read_last


def show_hint(options: argparse.Namespace) -> int:
    """Run the command. After the first, a hint is due when the file has changed since the last one, or with `--now`."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    screen = Screen.of(options)
    nothing = _nothing_due(course, progress, exercise)
    if exercise is None or nothing:
        if not write_json(options, {"exercise": exercise.id if exercise else None, "hint": None, "why": nothing}):
            for sentence in nothing:
                screen.text(sentence, indent=0)
        return PASS
    standing = progress.of(exercise)
    title, hints = failure_texts(course, exercise, standing)
    if not hints:
        raise UsageError(f"no hint is due for {exercise.id}: run `course check {exercise.number}` first")
    digest = file_digest(course, exercise)
    before = min(max(standing.hints_shown, 0), len(hints))
    waits = 0 < before < len(hints) and not options.now and digest == standing.hint_file
    shown = before if waits else min(before + 1, len(hints))
    if shown > before:
        forced = True if options.now and digest == standing.hint_file else None
        event = Event(now(), "hint", exercise.id, "hint", file=digest, hint=shown, hints=len(hints), now=forced)
        kept = keep(course, [event])
        if kept.problem:
            reason = kept.problem.strerror or kept.problem
            print(f"course: which hints were shown could not be kept: {reason}", file=sys.stderr)
    data = {"exercise": exercise.id, "check": standing.check, "finding": standing.finding, "hint": shown}
    if write_json(options, {**data, "hints": len(hints), "text": hints[shown - 1], "waits_for_an_edit": waits}):
        return PASS
    screen.text(f"{exercise.number} {exercise.title}: {title}", indent=0)
    screen.text(hints[shown - 1], label=f"Hint {shown} of {len(hints)}", indent=0)
    if waits:
        screen.text(f"Hint {shown + 1} comes when {exercise.file} has changed since this one was shown.", indent=0)
    screen.gap()
    screen.next(_commands(course, exercise, shown, len(hints)))
    return PASS


def _nothing_due(course: Course, progress: Progress, exercise: Exercise | None) -> list[str]:
    """Return why there is nothing to hint at; nothing where there may be."""
    if exercise is None:
        return ["Every exercise passes: there is nothing to hint at."]
    standing = progress.of(exercise)
    if standing.status == "pass":
        return [f"{exercise.number} {exercise.title} passes: there is nothing to hint at."]
    if standing.status == "not_started" and standing.runs:
        return [
            f"{exercise.number} {exercise.title}: nothing is written yet, so there is nothing to hint at.",
            f"Each TODO in {course.exercises_dir.name}/{exercise.file} says what is to be written.",
        ]
    return []


def failure_texts(course: Course, exercise: Exercise, standing: Standing) -> tuple[str, tuple[str, ...]]:
    """Return the words of the first failure: the title of the check, and its hints.

    They stand beside the progress; where that was made anew, in the last report, or else in course.toml.
    """
    if standing.hints or not standing.check:
        return standing.title or "", standing.hints
    last = read_last(course, exercise)
    failure = last.failure if last else None
    if failure and failure["id"] == standing.check:
        return str(failure.get("title", "")), tuple(str(each) for each in failure.get("hints") or ())
    hints = exercise.hints.get(standing.check, ()) if standing.hints_shown else ()
    return standing.title or standing.check.replace("_", " "), tuple(hints)


def _commands(course: Course, exercise: Exercise, shown: int, everything: int) -> list[Command]:
    number = exercise.number
    if shown < everything:
        hint = (f"course hint {number}", f"hint {shown + 1} of {everything}, after an edit")
        at_once = (f"course hint {number} --now", "the same at once")
        return [(f"edit {course.exercises_dir.name}/{exercise.file}", f"then course check {number}"), hint, at_once]
    check = (f"course check {number}", "that was the last hint")
    if (course.solutions_dir / exercise.file).is_file():
        return [check, (f"course solution {number}", "if it does not help")]
    return [check]
