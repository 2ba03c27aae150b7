"""`course accept`: use a corrected or renamed file of a student, and say who accepted it and why."""

import argparse

from autograder.course import Course, UsageError, find_assignment, find_course, read_course, refuse_kit
from autograder.exits import PASS
from autograder.gradebook import FOLDER, Decision, accept, author, decisions_that_hold, read_roster, withdraw
from autograder.report import one_line

from .screen import say

_FORM = "write course accept STUDENT FILE --reason TEXT"


def accept_file(options: argparse.Namespace) -> int:
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
    if options.withdraw:
        for gone in withdraw(course, options.student, **common):
            say(f"{gone.name or 'the other hand-in'} of {gone.student} no longer counts{_where(gone)}")
    elif options.file is None:
        raise UsageError(f"course accept has no file; {_FORM}")
    else:
        roster = read_roster(course, options.roster)
        done = accept(course, roster, options.student, options.file, **common)
        say(f"{done.name or 'The hand-in'} of {done.student} is accepted by {by} and kept in {FOLDER}/{done.file}")
    say("The next `course grade` uses it: the same command grades this student again")
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
