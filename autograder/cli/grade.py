"""`course grade`: every submission in a folder, several at a time, one report each and a table of scores."""

import argparse
import importlib
import os
import secrets
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import ending
from autograder.answer_key.keys import Keys
from autograder.authoring.given import given_of
from autograder.cli.check import known_device
from autograder.cli.rate import Rate
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.handed_out import refuse_kit
from autograder.course.names import UsageError
from autograder.course.nearest import nearest
from autograder.course.suite import Suite, load_suite
from autograder.exits import ENVIRONMENT, GRADER, PASS
from autograder.instructor.gradebook.policy import Policy, policy_of
from autograder.instructor.gradebook.roster import Roster, read_roster
from autograder.instructor.gradebook.scores import scores_csv
from autograder.instructor.grading.bulk import Bulk, CourseChanged, Graded, GradeOne, Plan
from autograder.instructor.grading.conditions import Conditions, conditions_of
from autograder.instructor.grading.isolated import isolated
from autograder.instructor.grading.memory import give_back_large_blocks
from autograder.instructor.grading.merge import told_students
from autograder.instructor.grading.out import Busy, Out, read_run
from autograder.instructor.grading.reports import read_stored
from autograder.judge.grader import Grader
from autograder.learner.progress import FOLDER, write_whole
from autograder.results import Report
from autograder.runner.runner import EnvironmentProblem, GraderProblem
from autograder.submission import Entry, Submission, list_submissions

if TYPE_CHECKING:
    from autograder.instructor.grading.cluster import Cluster

MOST_ROWS = 60
MOST_WAITING = 64
"""At least so many submissions are with a cluster, so that one which grows finds work."""


def grade(options: argparse.Namespace) -> int:
    """Run the command; a second run goes on where the first stopped."""
    course = _course(options)
    device = known_device(options.device)
    roster = read_roster(course, options.roster)
    found = list_submissions(options.folder, course.files, options.layout, roster or None, given_of(course))
    for sentence in (*found.problems, *found.notes):
        print(f"course: {sentence}", file=sys.stderr)
    if not found.entries:
        raise UsageError(f"{options.folder} holds no submissions: expected a folder or a zip for each student")
    if options.shard is not None:
        roster = Roster(tuple(each for each in roster.students if options.shard.has(each.student)))
    entries = [each for each in found.entries if options.shard is None or options.shard.has(each.student)]
    chosen = _chosen(entries, options.students)
    conditions = conditions_of(course, seed=_seed(course, options), device=device, isolation=options.isolation)
    try:
        with Out(options.out) as out:
            status = _grade(options, out, conditions, policy_of(course, roster), entries, chosen)
    except Busy as error:
        return _failed(ENVIRONMENT, str(error))
    except OSError as error:
        where = error.filename or options.out
        return _failed(ENVIRONMENT, f"{where} cannot be written to: {error.strerror}")
    return GRADER if status == PASS and found.problems else status


def _course(options: argparse.Namespace) -> Course:
    """Return the course to grade by: the one named, or the one the working folder is in; never one handed in."""
    root = find_course(options.course)
    if options.folder.resolve() in (root, *root.parents):
        raise UsageError(
            f"the course in {root} lies inside {options.folder}, where the submissions are; "
            "go to the folder of your course, or name it with --course"
        )
    if root != Path.cwd().resolve():
        print(f"course: grading by the course in {root}", file=sys.stderr)
    return read_course(root)


def _chosen(entries: Sequence[Entry], asked: Sequence[str] | None) -> frozenset[str]:
    """Return the students that were named, or all."""
    students = frozenset(each.student for each in entries)
    for student in asked or ():
        if student not in students:
            near = nearest(student, students)
            hint = f"is {near} meant?" if near else "expected the name of a folder or a zip, without its ending"
            raise UsageError(f"no submission is of {student!r}; {hint}")
    return frozenset(asked) if asked else students


def _grade(
    options: argparse.Namespace,
    out: Out,
    conditions: Conditions,
    policy: Policy,
    entries: Sequence[Entry],
    chosen: frozenset[str],
) -> int:
    """Grade the chosen ones, and write the table if everybody has a report then."""
    run = {**conditions.to_json(), **({"shard": str(options.shard)} if options.shard else {})}
    bulk = Bulk(out, conditions, anew=chosen if options.force else ())
    done = Counter[str]()
    wanted: Sequence[Entry] = entries
    with ending.saying(lambda: _stopped("interrupted", done.total(), len(wanted))):
        try:
            if options.retry_errors:
                chosen &= {row.student for row in bulk.rows(entries) if row.failed}
                bulk.anew &= chosen
            plan = bulk.plan(entries)
            wanted = [each for each in plan.open if each.student in chosen]
            if plan.open:
                out.note_run(run)
            if wanted:
                _run(options, bulk, replace(plan, open=tuple(wanted)), done)
        except (OSError, CourseChanged) as error:
            return _failed(GRADER, _stopped(_why(error), done.total(), len(wanted)))
    left = len(plan.open) - len(wanted)
    done["kept"] += len(plan.known)
    if left:
        print(_counted(done))
        partly = "--retry-errors" if options.retry_errors else "--student"
        print(f"{left} others have no report that stands, so scores.csv is left as it was: run it without {partly}")
        return PASS if not done["failed"] else GRADER
    rows = list(bulk.rows(entries))
    reports = [row.summary for row in rows]
    handed_in = {each.student: each.handed_in for each in entries}
    table = out.write_scores(scores_csv(reports, list(conditions.exercises), policy, handed_in))
    out.note_run({**run, "students": told_students(handed_in)})
    _show(options, out, reports)
    print(f"\n{_counted(done)}")
    print(f"Reports are in {out.reports}, the table in {table}")
    return GRADER if done["failed"] else PASS


def _run(options: argparse.Namespace, bulk: Bulk, plan: Plan, done: Counter[str]) -> None:
    give_back_large_blocks()
    suite = load_suite(bulk.conditions.course)
    jobs = options.jobs or os.cpu_count() or 1
    with ExitStack() as stack:
        run: GradeOne = _unforeseen
        if plan.exercises:
            run, jobs = _grader(options, bulk, plan, suite, jobs, stack)
        rate = Rate(len(plan.open), jobs)

        def on_progress(graded: Graded) -> None:
            done["kept" if graded.kept else "graded"] += 1
            done["failed"] += graded.row.failed
            rate.one_more()

        bulk.grade_all(plan.open, suite, run, jobs, on_progress)


def _grader(
    options: argparse.Namespace, bulk: Bulk, plan: Plan, suite: Suite, jobs: int, stack: ExitStack
) -> tuple[GradeOne, int]:
    """Return what grades, here or on a cluster, and how many at a time.

    The answer keys are found here first, while the sandbox starts.
    """
    seed, device = bulk.conditions.seed, bulk.conditions.device
    asked = "process" if options.scheduler else bulk.conditions.isolation  # for a cluster, only solutions run here
    at_once = min(jobs, len(plan.open))
    grader = stack.enter_context(Grader(suite, seed=seed, device=device, finders=jobs))
    _stop_with(bulk, grader, stack)
    meanwhile = partial(_meanwhile, grader, plan)
    grader.isolation = stack.enter_context(
        isolated(asked, suite, device=device, jobs=at_once, command=options.sandbox, meanwhile=meanwhile)
    )
    if not options.scheduler:
        print(f"course: isolation {grader.isolation.sentence}", file=sys.stderr)
    grader.isolation.expect(len(plan.open))
    grader.wait_for_keys(_keys_found, plan.exercises)
    if not options.scheduler:
        return grader.grade, jobs
    cluster = stack.enter_context(_cluster(options.scheduler, bulk.conditions, suite))
    _stop_with(bulk, cluster, stack)
    stack.enter_context(ending.leaving(cluster.leave))
    if not cluster.slots:
        print("course: the cluster has no worker yet; waiting for one", file=sys.stderr)
    return cluster.grade, options.jobs or max(MOST_WAITING, 2 * cluster.slots)


def _meanwhile(grader: Grader, plan: Plan) -> None:
    """Find answer keys, and load what shows the class in the end."""
    grader.find_keys(plan.exercises, with_misconceptions=True)
    importlib.import_module("autograder.report.terminal")


def _unforeseen(_submission: Submission, _exercises: Sequence[Exercise]) -> Report:
    """Refuse to run what nothing was made ready for: it was changed since the run began."""
    raise GraderProblem("a submission or its report was changed while grading ran")


def _stop_with(bulk: Bulk, running: "Grader | Cluster", stack: ExitStack) -> None:
    threading.Thread(target=_cancel, args=(bulk.stop, running), daemon=True).start()
    stack.callback(bulk.stop.set)


def _cancel(stop: threading.Event, running: "Grader | Cluster") -> None:
    """Wait until there is to be no more of it, then kill what still runs."""
    stop.wait()
    running.cancel()


def _cluster(address: str, conditions: Conditions, suite: Suite) -> "Cluster":
    """Send the course to a cluster, with the answer keys that are known."""
    try:
        from autograder.instructor.grading.cluster import Cluster
    except ImportError as error:
        found = f"--scheduler needs the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{found}; install it in the kit's folder: pip install -e '.[cluster]'") from None
    keys = Keys(suite, seed=conditions.seed, device=conditions.device)
    return Cluster(address, conditions, [file for each in suite.exercises for file in keys.kept(each)])


def _seed(course: Course, options: argparse.Namespace) -> int:
    """Return the secret seed: the one named, else the one kept beside the course, made when first needed."""
    if options.seed != course.seed:  # a kit has the answer keys of the public seed
        refuse_kit(course, "grade", f"the solutions for any seed but the public one, --seed {course.seed}")
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
        write_whole(file, f"{seed}\n", mode=0o600)
    except OSError:
        known = (read_run(options.out) or {}).get("seed")
        return known if isinstance(known, int) else seed
    return seed


def _stopped(why: str, done: int, everything: int) -> str:
    kept = "their reports are whole, and the same command goes on from there"
    return f"stopped after {done:,} of {everything:,} submissions: {why}; {kept}"


def _why(error: OSError | CourseChanged) -> str:
    if isinstance(error, CourseChanged):
        return str(error)
    return f"{error.strerror}{f' ({error.filename})' if error.filename else ''}"


def _failed(status: int, sentence: str) -> int:
    ending.hold()
    print(f"course: {sentence}", file=sys.stderr)
    return status


def _counted(done: Counter[str]) -> str:
    return f"{done['graded']:,} graded, {done['kept']:,} kept from before, {done['failed']:,} the grader failed on"


def _show(options: argparse.Namespace, out: Out, summaries: Sequence[Report]) -> None:
    """Show the first of the class; only their reports are read again."""
    from autograder.report.glyphs import glyphs_for
    from autograder.report.terminal import make_console, render_class

    stored = [read_stored(out.report(str(each.submission["student"]))) for each in summaries[:MOST_ROWS]]
    console = make_console(plain=options.plain, color=False if options.no_color else None)
    reports = [each.report for each in stored if each is not None]
    render_class(console, reports, glyphs=glyphs_for(console.encoding), plain=options.plain)


def _keys_found(found: int, everything: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if found == everything else ""
        print(f"\ranswer keys: {found} of {everything}", end=end, file=sys.stderr, flush=True)
