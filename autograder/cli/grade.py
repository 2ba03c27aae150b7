"""`course grade`: grade every submission in a folder, and print the class."""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder import ending
from autograder.course import Course, UsageError, read_course
from autograder.exits import ENVIRONMENT, GRADER, PASS
from autograder.gradebook import (
    Busy,
    Marks,
    Out,
    Policy,
    Roster,
    changed_marks,
    choose_students,
    chosen_facts,
    course_of,
    grading_course,
    grading_seed,
    marks_of,
    missing,
    named,
    policy_of,
    read_accepted,
    read_adjustments,
    read_roster,
    read_stored,
    times_to_look_at,
    without_effect,
)
from autograder.instructor import (
    ClassRun,
    Conditions,
    Interrupted,
    Outcome,
    RunOptions,
    accepted_only,
    changed_ids,
    conditions_of,
    refuse_other_run,
)
from autograder.progress import normalize_device
from autograder.report import plural
from autograder.submission import Entry, handout_of, list_submissions

from .screen import GradingProgress, make_console, say, warn

MOST_ROWS = 60
"""A longer table is not read on a terminal; the summary below it is of every student."""


def grade(options: argparse.Namespace) -> int:
    """Run the command. A second run goes on where the first stopped."""
    root = grading_course(options.folder, options.course)
    if root != Path.cwd().resolve():
        warn(f"grading by the course in {root}")
    whole = read_course(root)
    course = course_of(whole, options.take or (), options.assignment)
    if course is not whole and options.scheduler:
        raise UsageError("--scheduler grades whole courses only; leave --take and --assignment out, or use --shard")
    device = normalize_device(options.device)
    roster = read_roster(course, options.roster)
    entries, own, problems = _entries(options, course, roster)
    if (shard := options.shard) is not None:
        roster = Roster(tuple(student for student in roster.students if shard.has(student.student)))
        entries = tuple(entry for entry in entries if shard.has(entry.student))
    policy = policy_of(course, roster, read_adjustments(course, roster))
    students = choose_students(entries, options.students)
    seed = grading_seed(course, options.seed, options.out)
    conditions = conditions_of(course, seed=seed, device=device, isolation=options.isolation)
    chosen = chosen_facts(course.take, options.assignment) if course is not whole else {}
    _keep_earlier_run(options, conditions, chosen, [entry for entry in entries if entry.student in own], roster)
    chosen = {**chosen, **accepted_only(entries, own)}
    settings = RunOptions(
        options.jobs, options.sandbox, options.scheduler, shard, chosen, options.force, options.retry_errors
    )
    try:
        with Out(options.out) as out:
            before = marks_of(options.out / "scores.csv")
            outcome = ClassRun(out, conditions, settings, GradingProgress()).run(entries, students, policy)
            _show(options, out, outcome, policy, before)
        doubtful = times_to_look_at(course, policy, outcome.final_scores, chosen)
        for sentence in (*without_effect(policy), *doubtful):
            warn(sentence)
    except Interrupted as error:
        return _fail(GRADER, str(error))
    except Busy as error:
        return _fail(ENVIRONMENT, str(error))
    except OSError as error:
        return _fail(ENVIRONMENT, f"{error.filename or options.out} cannot be written to: {error.strerror}")
    return GRADER if outcome.counts["failed"] or outcome.undecided or problems or doubtful else PASS


def _entries(
    options: argparse.Namespace, course: Course, roster: Roster
) -> tuple[tuple[Entry, ...], frozenset[str], tuple[str, ...]]:
    """Return the submissions with what was accepted, the students with a submission, and the reported problems."""
    handout = handout_of(course)
    found = list_submissions(options.folder, course.files, options.layout, roster or None, handout)
    for sentence in (*found.problems, *found.notes):
        warn(sentence)
    if not found.entries:
        raise UsageError(f"{options.folder} holds no submissions: expected a folder or a zip for each student")
    entries, unknown = read_accepted(course, options.assignment or "").apply(found.entries, roster, handout)
    for sentence in unknown:
        warn(sentence)
    return entries, frozenset(entry.student for entry in found.entries), (*found.problems, *unknown)


def _keep_earlier_run(
    options: argparse.Namespace,
    conditions: Conditions,
    chosen: Mapping[str, object],
    entries: Sequence[Entry],
    roster: Roster,
) -> None:
    """Refuse a run that would replace or lose the results of an earlier one in --out. Raises `UsageError`."""
    refuse_other_run(options.out, conditions, {**chosen, **({"shard": str(options.shard)} if options.shard else {})})
    for sentence in changed_ids(options.out, options.folder, conditions, entries, roster, options.left_out or ()):
        warn(sentence)


def _fail(status: int, sentence: str) -> int:
    ending.hold()
    warn(sentence)
    return status


def _show(options: argparse.Namespace, out: Out, outcome: Outcome, policy: Policy, before: Marks) -> None:
    """Print the class, the counts, where the reports are, and which marks differ from those `before`."""
    if outcome.left:
        say(_counts(outcome.counts))
        option = "--retry-errors" if options.retry_errors else "--student"
        unchanged = f"so scores.csv is left as it was: run it without {option}"
        say(f"{outcome.left} others have no report that stands, {unchanged}")
        return
    _show_class(options, out, outcome, policy.maximum)
    say(f"\n{_counts(outcome.counts)}")
    for sentence in _beyond_the_table(outcome, policy):
        say(sentence)
    if held := outcome.undecided:
        one = len(held) == 1
        count = f"{plural(len(held), 'submission')} {'has' if one else 'have'}"
        found = f"{count} no file of the assignment that could be read"
        if not all(report.is_unread for report in outcome.reports if report.submission["student"] in held):
            found = f"{count} work in a file that was not read, or no file that could be read"
        say(f"{found}, and {'is' if one else 'are'} held back without a score: {named(held)}")
    say(f"Reports are in {out.reports}, the table in {outcome.table}")
    for line in changed_marks(before, marks_of(outcome.table) if outcome.table else {}):
        say(line)


def _beyond_the_table(outcome: Outcome, policy: Policy) -> Iterator[str]:
    """Yield what the table of earned points does not show: other final scores, and who handed in nothing."""
    pairs = zip(outcome.reports, outcome.finals, strict=True)
    if other := sum(final.score != report.score for report, final in pairs if report.has_score):
        one = other == 1
        why = f"lateness, decisions or the rules of the course change {'it' if one else 'them'}"
        differ = "differs from the total" if one else "differ from the totals"
        yield f"{plural(other, 'final score')} in scores.csv {differ} as graded: {why}"
    if absent := missing(policy, (str(report.submission["student"]) for report in outcome.reports)):
        yield f"{plural(len(absent), 'student')} on the roster handed in nothing: {named(absent)}"


def _counts(counts: Counter[str]) -> str:
    graded, kept, failed = (counts[name] for name in ("graded", "kept", "failed"))
    again = f", {counts['counted']:,} with points counted again" if counts["counted"] else ""
    return f"{graded:,} graded, {kept:,} kept from before{again}, {failed:,} the grader failed on"


def _show_class(options: argparse.Namespace, out: Out, outcome: Outcome, maximum: int) -> None:
    """Print the first students of the class, whose reports are read again, and the summary of everybody."""
    from autograder.report import glyphs_for, render_class, summary_of

    files = [out.report(str(summary.submission["student"])) for summary in outcome.reports[:MOST_ROWS]]
    reports = [stored.report for file in files if (stored := read_stored(file)) is not None]
    pairs = zip(outcome.facts, outcome.finals, strict=True)
    decisions = {facts.student: final.score for facts, final in pairs if not final.is_open}
    summary = summary_of(outcome.facts, maximum, decisions)
    console = make_console(options)
    render_class(console, reports, glyphs=glyphs_for(console.encoding), plain=options.plain, summary=summary)
