"""Note a decision about a mark: points, excused, time, a comment.

KIND is one of: {kinds}. EXERCISE may be an assignment, or * for all together. The row is added to
adjustments.csv beside course.toml, which counts when marks are read: nothing is graded again. A later row of the same
student and exercise replaces an earlier one. Rows of add and comment count beside each other.
"""

import argparse
from pathlib import Path

from autograder.cli import ROSTER, CommandParser, say, warn
from autograder.course import Course, UsageError, find_course, read_course, refuse_kit
from autograder.ending import PASS
from autograder.gradebook import (
    KINDS,
    Adjustment,
    Adjustments,
    Roster,
    adjustment,
    append,
    author,
    merged,
    now,
    read_adjustments,
    read_roster,
    refuse_idle,
    warnings_about,
)
from autograder.report import one_line, plural

FORM = "write course adjust STUDENT EXERCISE KIND [VALUE] --text TEXT"


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.description = (parser.description or "").replace("{kinds}", ", ".join(KINDS))
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of the student")
    add("exercise", nargs="?", metavar="EX", help=f"{parser.exercise}, or * for all together")
    add("kind", nargs="?", metavar="KIND", help="what is decided")
    add("value", nargs="?", metavar="VALUE", help="points; days or a time of an extension; the time handed in")
    add("--text", metavar="TEXT", help="why: the student reads it")
    add("--by", metavar="NAME", help="who decides (default: git's user.name, or your login)")
    add("--list", action="store_true", help="list what counts, of all or of one student, and do nothing")
    add("--merge", type=Path, metavar="FILE", help="add the rows of another grader's adjustments.csv")
    add("--keep", choices=("mine", "theirs"), help="what counts where --merge finds two decisions")
    add("--from-nbgrader", metavar="URL", help="take over what people entered in nbgrader's database")
    add("--assignment", metavar="NAME", help="its name in nbgrader (default: the course's folder)")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def run(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` with every mistake, and then nothing is written."""
    course = read_course(find_course(options.course))
    refuse_kit(course, "adjust")
    roster = read_roster(course, options.roster)
    known = read_adjustments(course, roster)
    if options.list:
        return _list(known, options.student)
    rows = _new_rows(course, roster, known, options)
    if rows:
        append(course, rows)
    for row in rows:
        say(f"{one_line(row.student)}: {row.sentence}")
    for row in rows:
        for warning in warnings_about(course, row):
            warn(warning)
    count = plural(len(rows), "row")
    say(f"{count} added to adjustments.csv; the next `course grade` and `course export` count them")
    return PASS


def _new_rows(
    course: Course, roster: Roster, known: Adjustments, options: argparse.Namespace
) -> tuple[Adjustment, ...]:
    if options.merge is not None:
        return merged(known, read_adjustments(course, roster, options.merge), options.keep)
    if options.from_nbgrader is not None:
        from autograder.exports import manual_marks  # an application beside this one

        name = options.assignment or course.root.name
        cells = [{**found, "when": now(course)} for found in manual_marks(course, options.from_nbgrader, name)]
        rows = [adjustment(course, roster, one) for one in cells]
        return tuple(row for row in rows if not _is_known(row, known))
    missing = [name for name in ("student", "exercise", "kind") if getattr(options, name) is None]
    if missing:
        raise UsageError(f"course adjust has no {missing[0].upper()}; {FORM}")
    words = {name: getattr(options, name) or "" for name in ("student", "exercise", "kind", "value", "text")}
    row = adjustment(course, roster, {**words, "by": author(options.by), "when": now(course)})
    refuse_idle(row, known)
    return (row,)


def _is_known(row: Adjustment, known: Adjustments) -> bool:
    """Say whether the same decision counts already, whenever it was made."""
    own = [(one.exercise, one.kind, one.amount, one.text, one.by) for one in known.of(row.student)]
    return (row.exercise, row.kind, row.amount, row.text, row.by) in own


def _list(known: Adjustments, student: str | None) -> int:
    for name in sorted(known.students):
        if student in (None, name):
            for row in known.of(name):
                say(f"{one_line(name)}: {row.sentence}")
    if not any(student in (None, name) for name in known.students):
        say("Nothing is adjusted")
    return PASS
