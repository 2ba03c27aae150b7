"""`course grade`: every submission in a folder, several at a time, one report each and a table of scores."""

import argparse
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.authoring.given import given_of
from autograder.cli.check import known_device
from autograder.cli.exits import ENVIRONMENT, GRADER, PASS
from autograder.course import Course, find_course, read_course
from autograder.course.names import UsageError
from autograder.gradebook.policy import policy_of
from autograder.gradebook.roster import read_roster
from autograder.gradebook.scores import scores_csv
from autograder.judge.bulk import Bulk, Graded, counted
from autograder.judge.grader import Grader
from autograder.judge.suite import load_suite
from autograder.progress import FOLDER, write_whole
from autograder.report import Report
from autograder.submission import list_submissions

MOST_ROWS = 60
QUIET_SECONDS = 5.0


def grade(options: argparse.Namespace) -> int:
    """Run the command; a second run goes on where the first stopped."""
    if options.isolation == "sandbox":
        raise UsageError(
            "the sandbox is not part of this version: --isolation process runs each submission in a process"
        )
    course = read_course(find_course())
    device = known_device(options.device)
    roster = read_roster(course, options.roster)
    found = list_submissions(options.folder, course.files, options.layout, roster or None, given_of(course))
    for sentence in (*found.problems, *found.notes):
        print(f"course: {sentence}", file=sys.stderr)
    if not found.entries:
        raise UsageError(f"{options.folder} holds no submissions: expected a folder or a zip for each student")
    suite = load_suite(course)
    try:
        (options.out / "reports").mkdir(parents=True, exist_ok=True)
        seed = _seed(course, options)
        _note_run(options.out, seed, device, suite.digest)
    except OSError as error:
        where = error.filename or options.out
        print(f"course: {where} cannot be written to: {error.strerror}", file=sys.stderr)
        return ENVIRONMENT
    progress = Progress(len(found.entries))
    jobs = options.jobs or os.cpu_count() or 1
    with Grader(suite, seed=seed, device=device, finders=jobs) as grader:
        bulk = Bulk(grader, options.out)
        try:
            if bulk.anything_new(found.entries):
                grader.wait_for_keys(_keys_found)
            progress.start()
            graded = bulk.grade_all(found.entries, jobs, progress.told)
        except (OSError, KeyboardInterrupt) as error:
            return _stopped(error, progress, len(found.entries))
    reports = [each.report for each in graded]
    times = {entry.student: entry.handed_in for entry in found.entries}
    table = scores_csv(reports, [each.id for each in course.exercises], policy_of(course, roster), times)
    write_whole(options.out / "scores.csv", table)
    _show(options, reports, graded)
    failed = any(each.failed for each in graded)
    return GRADER if failed or found.problems else PASS


def _seed(course: Course, options: argparse.Namespace) -> int:
    """Return the secret seed: the one named, else the one kept beside the course, made when first needed."""
    if options.seed is not None:
        return int(options.seed)
    file = course.root / FOLDER / "grading_seed"
    try:
        return int(file.read_text("utf-8"))
    except (OSError, ValueError):
        pass
    seed = secrets.randbits(62)
    try:
        file.parent.mkdir(exist_ok=True)
        write_whole(file, f"{seed}\n")
        file.chmod(0o600)
    except OSError:
        return _seed_of_run(options.out) or seed
    return seed


def _seed_of_run(out: Path) -> int | None:
    try:
        return int(json.loads((out / "run.json").read_text("utf-8"))["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _note_run(out: Path, seed: int, device: str, suite: str) -> None:
    write_whole(out / "run.json", json.dumps({"schema": 1, "seed": seed, "device": device, "suite": suite}) + "\n")


def _stopped(error: BaseException, progress: "Progress", everything: int) -> int:
    where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
    why = f"{error.strerror}{where}" if isinstance(error, OSError) else "interrupted"
    print(
        f"course: stopped after {progress.done} of {everything} submissions: {why}; "
        "their reports are whole, and the same command goes on from there",
        file=sys.stderr,
    )
    return GRADER


def _show(options: argparse.Namespace, reports: Sequence[Report], graded: Sequence[Graded]) -> None:
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import make_console, render_class

    console = make_console(plain=options.plain, color=False if options.no_color else None)
    render_class(console, reports[:MOST_ROWS], glyphs=glyphs_for(console.encoding), plain=options.plain)
    new, kept, failed = counted(graded)
    print(f"\n{new} graded, {kept} kept from before, {failed} the grader failed on")
    print(f"Reports are in {options.out / 'reports'}, the table in {options.out / 'scores.csv'}")


def _keys_found(found: int, everything: int) -> None:
    moving = sys.stderr.isatty()
    if moving or found == everything:
        end = "\n" if found == everything else ""
        print(f"{chr(13) if moving else ''}answer keys: {found} of {everything}", end=end, file=sys.stderr, flush=True)


class Progress:
    """Says how far the grading is, at what rate, and how long it still takes."""

    def __init__(self, everything: int) -> None:
        self.everything = everything
        self.done = 0
        self.new = 0
        self.started = self.last = time.monotonic()

    def start(self) -> None:
        """Begin to count the time: the answer keys are found, and submissions follow at their own rate."""
        self.started = self.last = time.monotonic()

    def told(self, graded: Graded) -> None:
        """Hear of one more submission."""
        self.done += 1
        self.new += not graded.kept
        now = time.monotonic()
        moving = sys.stderr.isatty()
        if not moving and self.done < self.everything and now - self.last < QUIET_SECONDS:
            return
        self.last = now
        end = "\n" if not moving or self.done == self.everything else ""
        print(f"{chr(13) if moving else ''}{self.line(now)}", end=end, file=sys.stderr, flush=True)

    def line(self, now: float) -> str:
        rate = self.new / max(now - self.started, 1e-3)
        text = f"graded {self.done} of {self.everything}"
        if self.done == self.everything or not self.new:
            return f"{text:<60}"
        left = (self.everything - self.done) / rate
        return f"{text}, {rate:.1f} a second, about {left:.0f} s left".ljust(60)
