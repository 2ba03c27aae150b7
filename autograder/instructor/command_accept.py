"""Use a corrected or renamed file of one student, or of each member of a group.

The file is copied to accepted/ beside course.toml, and accepted/log.csv says who, when and why. The next `course
grade` uses it instead of the student's own. What was handed in stays as it is.
"""

import argparse
from pathlib import Path

from autograder.cli import ROSTER, CommandParser, say
from autograder.course import Course, UsageError, find_assignment, find_course, read_course, refuse_kit
from autograder.ending import PASS
from autograder.gradebook import (
    FOLDER,
    Decision,
    accept,
    author,
    decisions_that_hold,
    find_roster,
    others_of_group,
    withdraw,
)
from autograder.report import one_line

_FORM = "write course accept STUDENT FILE --reason TEXT"


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of a student, or the name of a group")
    add("file", type=Path, nargs="?", metavar="FILE", help="a file of the course, or a whole hand-in: folder or zip")
    add("--reason", metavar="TEXT", help="why: the student reads it")
    add("--as", dest="name", metavar="NAME", help="the file of the course that it is (default: its own name)")
    add("--by", metavar="NAME", help="who accepts it (default: git's user.name, or your login)")
    add("--assignment", metavar="ID", help="only for this assignment (default: all)")
    add("--withdraw", action="store_true", help="from now on, the student's own hand-in counts again")
    add("--list", action="store_true", help="list what is accepted, and do nothing")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def run(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError`, and then nothing is accepted."""
    course = read_course(find_course(options.course))
    refuse_kit(course, "accept")
    if options.assignment:
        find_assignment(course, options.assignment)
    if options.list:
        return _list(course, options)
    if options.student is None or not (reason := one_line(options.reason or "").strip()):
        missing = "--reason TEXT, which the student reads" if options.student else "student"
        raise UsageError(f"course accept has no {missing}; {_FORM}")
    by = author(options.by)
    common = {"name": options.name or "", "assignment": options.assignment or "", "reason": reason, "by": by}
    roster = find_roster(course, options.roster)
    students = roster.in_group_of(options.student) or (options.student,)
    if options.withdraw:
        for gone in withdraw(course, students, **common):
            say(f"{gone.name or 'the other hand-in'} of {gone.student} no longer counts{_where(gone)}")
    elif options.file is None:
        raise UsageError(f"course accept has no file; {_FORM}")
    else:
        for student in students:
            done = accept(course, roster, student, options.file, **common)
            say(f"{done.name or 'The hand-in'} of {done.student} is accepted by {by} and kept in {FOLDER}/{done.file}")
        if len(students) == 1 and (beside := others_of_group(roster, done.student)):
            say(beside)
    again = "this student" if len(students) == 1 else "these students"
    say(f"The next `course grade` uses it: the same command grades {again} again")
    return PASS


def _list(course: Course, options: argparse.Namespace) -> int:
    accepted = decisions_that_hold(course, options.assignment or "")
    shown = {student: accepted[student] for student in accepted if options.student in (None, student)}
    for student, decisions in shown.items():
        for decision in decisions:
            say(f"{one_line(student)}{_where(decision)}: {one_line(decision.note)}")
    if not shown:
        say("Nothing is accepted")
    return PASS


def _where(decision: Decision) -> str:
    return f" in {one_line(decision.assignment)}" if decision.assignment else ""
