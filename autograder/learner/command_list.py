"""List the exercises with their last results."""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from autograder.cli import CommandParser, Screen, add_json
from autograder.course import Course, Exercise, find_course, left_out, read_course, require_texts
from autograder.ending import PASS
from autograder.progress import (
    Command,
    ExerciseRow,
    Progress,
    count_passed,
    first_failure,
    in_order,
    next_command,
    notices,
    overview_json,
    parts_written,
    read_progress,
    rows_of,
    select_rows,
    texts_above,
    write_json,
)
from autograder.report import cells, cut, kilobytes, padded


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    only = parser.add_mutually_exclusive_group()
    for choice, which in (("failing", "that fail"), ("done", "that pass"), ("open", "that do not pass yet")):
        does = f"list only exercises {which}"
        only.add_argument(f"--{choice}", action="store_const", const=choice, dest="only", help=does)
    parser.add_argument("--author", action="store_true", help="list the size of each answer key in a kit, for authors")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print every exercise with its last result, or those that were asked for."""
    course, progress, every = read_rows()
    rows = select_rows(every, options.only)
    if options.author:
        return show_key_sizes(course, [row.exercise for row in rows], options)
    command = next_command(course, progress, every)
    if write_json(options.json, overview_json(course, progress, command[0], rows)):
        return PASS
    screen = Screen.of(options)
    rows = in_order(course, rows)
    show_title(screen, course, progress, every)
    if not rows:
        screen.line("  There is no such exercise.")
    _show_table(screen, rows, progress.current(course), texts_above(course, progress, every, rows))
    screen.gap()
    for sentence in left_out(course).splitlines():
        screen.text(sentence)
        screen.gap()
    screen.next([command])
    return PASS


def read_rows() -> tuple[Course, Progress, list[ExerciseRow]]:
    """Return the course around the working folder, your progress, and a row for each exercise."""
    course = read_course(find_course())
    progress = read_progress(course)
    return course, progress, rows_of(course, progress)


def show_title(screen: Screen, course: Course, progress: Progress, rows: Sequence[ExerciseRow]) -> None:
    """Print the title of the course, how much passes, and what is due."""
    screen.text(f"{course.title}: {count_passed(course, progress)}", indent=0, style="bold")
    for sentence in (*notices(rows), *due_sentences(course, datetime.now(UTC))):
        screen.text(sentence)


def due_sentences(course: Course, now: datetime) -> list[str]:
    """Return what is due next: the assignments whose due date is to come, in their order. `now` has a time zone."""
    sentences = []
    for one in course.assignments:
        due, zone = one.grading.due, one.grading.zone
        taken = any(exercise.id in one.exercises for exercise in course.exercises)
        if due is not None and taken and (left := due - now.astimezone(zone).replace(tzinfo=None)) > timedelta():
            days = f"{left.days} days left" if left.days > 1 else f"{left.days * 24 + left.seconds // 3600} hours left"
            sentences.append(f"{one.title}: due {due:%Y-%m-%d %H:%M} ({zone}), {days}")
    return sentences


def show_current(
    screen: Screen, course: Course, progress: Progress, rows: Sequence[ExerciseRow], command: Command
) -> None:
    """Print the exercise you are on, its first failure, and the next command."""
    current = progress.current(course)
    _show_table(screen, [row for row in rows if row.exercise is current], current)
    if title := first_failure(course, progress):
        screen.text(title, label="First failure")
    if parts := parts_written(course, progress):
        screen.text(parts)
    screen.gap()
    has_begun = any(row.standing.runs for row in rows)
    first_look = [(f"course play {one.id}", one.title) for one in course.play if one.milestones and not has_begun]
    screen.next([command, *first_look])


def _show_table(
    screen: Screen, rows: Sequence[ExerciseRow], current: Exercise | None, above: Sequence[str] = ()
) -> None:
    """Print a line per exercise; a narrow terminal gets no points, then no checks, then no minutes.

    A heading, if it is not empty, stands above the row of its place.
    """
    if screen.plain:
        for at, row in enumerate(rows):
            if above and above[at]:
                screen.line(f"{above[at]}.")
            sentences = "".join(f" {fact}." for fact in (row.checks, row.points, row.minutes) if fact)
            here = "You are here: " if row.exercise is current else ""
            screen.line(f"{here}Exercise {row.exercise.number}, {row.exercise.title}: {row.word}.{sentences}")
        return
    titles = max((cells(row.exercise.title) for row in rows), default=0)
    words = max((len(row.word) for row in rows), default=0)
    room = screen.width - 9 - words
    columns = [[row.minutes for row in rows], [row.checks for row in rows], [row.points for row in rows]]
    widths = [max(map(len, column), default=0) for column in columns]
    kept = [column for column, width in enumerate(widths) if width]
    while kept and room < titles + sum(widths[column] + 2 for column in kept):
        kept.pop()
    for at, row in enumerate(rows):
        if above and above[at]:
            screen.gap()
            screen.text(above[at], indent=0, style="bold")
        facts = [columns[column][at].ljust(widths[column]) for column in (1, 2, 0) if column in kept]
        width = min(titles, room)
        screen.line(
            f"{screen.glyphs.marker if row.exercise is current else ' '} ",
            (getattr(screen.glyphs, row.mark), row.style),
            f" {row.exercise.number} {padded(cut(row.exercise.title, width, screen.glyphs.ellipsis), width)}  ",
            (row.word.ljust(words), row.style),
            "".join(f"  {fact}" for fact in facts),
        )


# `course list --author`: the size of each answer key in a kit.


def show_key_sizes(course: Course, exercises: Sequence[Exercise], options: argparse.Namespace) -> int:
    """Print the size of each answer key, as far as it was measured."""
    require_texts(course, exercises)
    from autograder.authoring import MOST_KEY_BYTES, known_sizes, of_budget  # an application beside this one

    sizes = known_sizes(course, exercises)
    if write_json(options.json, {"schema": 1, "budget": MOST_KEY_BYTES, "key_bytes": sizes}):
        return PASS
    screen = Screen.of(options)
    width = max(map(len, sizes), default=0)
    for exercise in exercises:
        size = sizes[exercise.id]
        measured = of_budget(size) if size is not None else f"not measured; run course validate {exercise.number}"
        screen.line(f"{exercise.id.ljust(width)}  {measured}")
    screen.line(f"all that are measured: {kilobytes(sum(filter(None, sizes.values())))}")
    return PASS
