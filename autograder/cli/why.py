"""`course why`: what is behind a misconception, and how to see it for oneself."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from autograder.cli.written import write_json
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.misconceptions import Described, describe, nearest_ids
from autograder.course.names import UsageError
from autograder.exits import PASS
from autograder.learner.progress import Progress, read_progress
from autograder.learner.progress.last import read_last


def show_why(options: argparse.Namespace) -> int:
    """Run the command. The right line is shown only to those who passed the exercise."""
    course = read_course(find_course())
    progress = read_progress(course)
    page, exercise = find_page(course, progress, options.id)
    if write_json(options, asdict(page)):
        return PASS

    from autograder.report.console import make_console
    from autograder.report.glyphs import glyphs_for
    from autograder.report.why import WhyPage, render_why

    console = make_console(plain=options.plain, color=False if options.no_color else None)
    place = f"{course.exercises_dir.name}/{exercise.file}" if exercise else ""
    fields = {**asdict(page), "exercise": f"{exercise.number} {exercise.title}" if exercise else page.exercise}
    following = _commands(progress, exercise) if exercise else []
    shown = WhyPage(**fields, lesson=place)
    render_why(console, shown, glyphs=glyphs_for(console.encoding), plain=options.plain, next_commands=following)
    return PASS


def find_page(course: Course, progress: Progress, wanted: str | None) -> tuple[Described, Exercise | None]:
    """Return what is known of a misconception, or of the one behind the last failure, and its exercise.

    Raises `UsageError` where there is none.
    """
    page = _found(course, progress, wanted or _last_one(course, progress))
    exercise = next((each for each in course.exercises if each.id == page.exercise), None)
    if exercise is None or not progress.of(exercise).ever_passed:
        page = replace(page, right=())
    return page, exercise


def _found(course: Course, progress: Progress, wanted: str) -> Described:
    own = next((page for each in course.exercises if (page := _from_last(course, progress, each, wanted))), None)
    page = describe(course, wanted)
    if page is not None:
        seen = own.experiment if own else ""
        return replace(page, experiment=page.experiment or seen)
    if own is not None:
        return own
    near = nearest_ids(course, wanted)
    hint = f"is {' or '.join(near)} meant?" if near else "a failure says which one it is"
    raise UsageError(f"no misconception is called {wanted!r}; {hint}")


def _last_one(course: Course, progress: Progress) -> str:
    """Return the misconception behind the last failure."""
    exercise = progress.current(course)
    last = read_last(course, exercise) if exercise else None
    failure = last.failure if last else None
    if exercise is None or failure is None:
        number = f" {exercise.number}" if exercise else ""
        raise UsageError(f"there is no failure to explain: run `course check{number}`, or name a misconception")
    finding = failure.get("finding") or {}
    if finding.get("kind") != "misconception":
        raise UsageError(
            f"the last failure of {exercise.id} is none of the misconceptions the course knows: "
            f"`course diff {exercise.number}` shows all there is"
        )
    return str(finding["id"])


def _from_last(course: Course, progress: Progress, exercise: Exercise, wanted: str) -> Described | None:
    """Return what the last report says of a misconception: for a kit that has no catalogue."""
    if progress.of(exercise).finding != wanted:
        return None  # no report is opened in vain
    last = read_last(course, exercise)
    failure: Mapping[str, Any] | None = last.failure if last else None
    finding = (failure or {}).get("finding") or {}
    if failure is None or finding.get("kind") != "misconception" or finding.get("id") != wanted:
        return None
    hints = failure.get("hints") or [""]
    return Described(
        id=wanted,
        exercise=exercise.id,
        name=str(finding.get("name") or finding.get("message")),
        explanation=str(finding.get("detail") or finding.get("message")),
        hint=str(hints[0]),
        experiment=_experiment(exercise, finding),
    )


def _experiment(exercise: Exercise, finding: Mapping[str, Any]) -> str:
    """Return what was measured on the learner's own program, where there is something."""
    witnesses = (finding.get("evidence") or {}).get("witnesses") or []
    if not witnesses:
        return f"course diff {exercise.number} shows what your program gave."
    at, expected, yours = witnesses[0]
    return f"At {at} your program gave {yours}, expected {expected}; course diff {exercise.number} shows more."


def _commands(progress: Progress, exercise: Exercise) -> list[tuple[str, str]]:
    check = (f"course check {exercise.number}", "after your next edit")
    standing = progress.of(exercise)
    if standing.passes_now or not standing.runs:
        return [(f"course check {exercise.number}", "")]
    return [(f"course diff {exercise.number}", "the evidence"), check]
