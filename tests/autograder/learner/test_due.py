"""What the list of exercises says about due dates."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from autograder.course import Assignment, Grading
from autograder.learner.command_list import due_sentences
from tests.support import tiny

DUE = datetime(2026, 3, 8, 23, 59)
"""A local time of the zone of its assignment."""


def test_the_list_says_what_is_due_and_how_long_that_is_off() -> None:
    grading = Grading(due=DUE)
    weeks = (
        Assignment("week1", "Week 1", (tiny.FIRST,), grading),
        Assignment("other", "Not taken", ("ex99_other",), grading),
        Assignment("week2", "Week 2", (tiny.FIRST,), Grading()),
    )
    course, now = replace(tiny.COURSE, assignments=weeks), DUE.replace(tzinfo=UTC)
    for before, left in ((timedelta(days=7), "7 days left"), (timedelta(hours=30), "30 hours left")):
        assert due_sentences(course, now - before) == [f"Week 1: due 2026-03-08 23:59 (UTC), {left}"]
    assert due_sentences(course, now) == []
