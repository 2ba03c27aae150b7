"""`course hint`: the next hint for the last failure, from a question to the step."""

import argparse
import sys
from dataclasses import dataclass

from autograder.cli.screen import Command, Screen
from autograder.cli.written import write_json
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.exits import PASS
from autograder.learner.progress import Progress, Standing, keep, read_progress
from autograder.learner.progress.digests import digest_of
from autograder.learner.progress.events import Event, now
from autograder.learner.progress.last import read_last
from autograder.submission.own import own_source


def show_hint(options: argparse.Namespace) -> int:
    """Run the command. After the first, a hint is due when the file has changed since the last one, or with `--now`."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    screen = Screen.of(options)
    nothing = nothing_due(course, progress, exercise)
    if exercise is None or nothing:
        if not write_json(options, {"exercise": exercise.id if exercise else None, "hint": None, "why": nothing}):
            for sentence in nothing:
                screen.text(sentence, indent=0)
        return PASS
    source = own_source(course, exercise)
    digest = digest_of(source) if source is not None else None
    taken = take_hint(course, exercise, progress.of(exercise), digest, at_once=options.now)
    standing, shown, everything = progress.of(exercise), len(taken.hints), taken.everything
    data = {"exercise": exercise.id, "check": standing.check, "finding": standing.finding, "hint": shown}
    said = {"hints": everything, "text": taken.hints[-1], "waits_for_an_edit": taken.waits}
    if write_json(options, {**data, **said}):
        return PASS
    screen.text(f"{exercise.number} {exercise.title}: {taken.title}", indent=0)
    screen.text(taken.hints[-1], label=f"Hint {shown} of {everything}", indent=0)
    if taken.waits:
        screen.text(f"Hint {shown + 1} comes when {exercise.file} has changed since this one was shown.", indent=0)
    screen.gap()
    screen.next(_commands(course, exercise, shown, everything))
    return PASS


@dataclass(frozen=True)
class Taken:
    """The hints given so far, the last the one asked for, of how many; whether the next waits for an edit."""

    title: str
    hints: tuple[str, ...]
    everything: int
    waits: bool


def take_hint(course: Course, exercise: Exercise, standing: Standing, digest: str | None, *, at_once: bool) -> Taken:
    """Give the next hint, and keep that it was given. `digest` is that of the learner's source as it is now.

    Raises `UsageError` where none is due.
    """
    title, hints = failure_texts(course, exercise, standing)
    if not hints:
        raise UsageError(f"no hint is due for {exercise.id}: run `course check {exercise.number}` first")
    before = min(max(standing.hints_shown, 0), len(hints))
    waits = 0 < before < len(hints) and not at_once and digest == standing.hint_file
    shown = before if waits else min(before + 1, len(hints))
    if shown > before:
        forced = True if at_once and digest == standing.hint_file else None
        event = Event(now(), "hint", exercise.id, "hint", file=digest, hint=shown, hints=len(hints), now=forced)
        kept = keep(course, [event])
        if kept.problem:
            reason = kept.problem.strerror or kept.problem
            print(f"course: which hints were shown could not be kept: {reason}", file=sys.stderr)
    return Taken(title, tuple(hints[:shown]), len(hints), waits)


def nothing_due(course: Course, progress: Progress, exercise: Exercise | None) -> list[str]:
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
