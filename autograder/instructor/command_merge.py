"""Join the parts of a class that `course grade --shard` wrote.

A second run changes nothing.
"""

import argparse
from pathlib import Path

from autograder.cli import ROSTER, CommandParser, say, warn
from autograder.course import UsageError, find_course, read_course
from autograder.ending import ENVIRONMENT, GRADER, PASS
from autograder.gradebook import (
    Busy,
    Out,
    course_of_run,
    final_of,
    find_roster,
    policy_of,
    read_adjustments,
    scores_csv,
    times_to_look_at,
    with_checks,
    without_effect,
)

from .shards import MergeError, handed_in_of, merge, read_shards


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("out", type=Path, metavar="OUT", help="where to write the reports and scores.csv")
    parser.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="a folder of `course grade --shard`")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


def run(options: argparse.Namespace) -> int:
    """Run the command. A second run changes nothing. The scores follow the rules of the course and its roster."""
    course = read_course(find_course())
    roster = find_roster(course, options.roster)
    try:
        run = read_shards(options.shards, options.out)
        with Out(options.out) as out:
            rows = merge(out, options.shards, run)
            course = course_of_run(course, run)
            policy = policy_of(course, roster, read_adjustments(course, roster))
            void = policy.adjustments.void_checks
            summaries = [with_checks(row.summary, out.report(row.student), void) for row in rows]
            out.write_scores(scores_csv(summaries, run["exercises"], policy, handed_in_of(run)))
            out.note_run(run)
    except MergeError as error:
        raise UsageError(str(error)) from None
    except Busy as error:
        warn(str(error))
        return ENVIRONMENT
    failed = sum(row.failed for row in rows)
    say(f"{len(rows):,} reports from {len(options.shards)} folders, {failed:,} of them the grader failed on")
    say(f"Reports are in {out.reports}, the table in {options.out / 'scores.csv'}")
    times = handed_in_of(run)
    finals = {
        row.student: final_of(policy, row.student, times.get(row.student), report)
        for row, report in zip(rows, summaries, strict=True)
    }
    undecided = any(row.summary.is_held and finals[row.student].is_open for row in rows)
    doubtful = times_to_look_at(course, policy, finals, run)
    for sentence in (*without_effect(policy), *doubtful):
        warn(sentence)
    return GRADER if failed or undecided or doubtful else PASS
