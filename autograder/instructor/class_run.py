"""Run the grading of a class: on this machine or a cluster, with answer keys made while the sandbox starts."""

import argparse
import importlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from autograder import ending, gradebook
from autograder.answer_key import Keys
from autograder.cli import make_console, say, show_count, warn
from autograder.course import Course, Exercise, Suite, UsageError, left_out, load_suite, read_course
from autograder.ending import ENVIRONMENT, GRADER, PASS
from autograder.gradebook import Entry, list_submissions
from autograder.judge import SELF_CHECK, Budget, Grader
from autograder.progress import normalize_device
from autograder.report import plural
from autograder.results import ExerciseResult, Report
from autograder.runner import EnvironmentProblem, GraderProblem
from autograder.submission import Submission, handout_of

from .bulk import (
    Bulk,
    Conditions,
    CourseChanged,
    Graded,
    GradeOne,
    Plan,
    Rate,
    conditions_of,
    give_back_large_blocks,
    is_proved,
    open_grading_isolation,
)
from .command_merge import accepted_only, changed_ids, refuse_other_run, students_json

if TYPE_CHECKING:
    from .cluster import Cluster


MOST_WAITING = 64
"""At least so many submissions are with a cluster, so that one which grows finds work."""

SEARCH = Budget(SELF_CHECK.edits, 30.0)
"""Nobody waits for one search, so a busy machine may take its time: the number of edits ends it."""

FIRST = 8
"""Submissions that are read before the sandbox has started: mostly the others have the same exercises."""

JUDGED_BESIDE = 1
"""So many submissions more than `jobs` are graded at a time: they are judged while the others run."""


class Interrupted(Exception):
    """The run could not go on. The message says how far it came."""


class Progress(Protocol):
    """What to call while a run goes on."""

    def notify(self, sentence: str) -> None:
        """Report a fact once."""

    def on_keys(self, found: int, total: int) -> None:
        """Report how many answer keys are there."""

    def on_graded(self, rate: Rate) -> None:
        """Report how far the run is."""


@dataclass(frozen=True)
class RunOptions:
    """How to run: `jobs` at a time, which sandbox or cluster, and which reports not to keep.

    `chosen` is what run.json notes about which exercises are graded.
    """

    jobs: int | None = None
    sandbox: Sequence[str] | None = None
    scheduler: str | None = None
    shard: gradebook.Shard | None = None
    chosen: Mapping[str, object] = field(default_factory=dict)
    force: bool = False
    retry_errors: bool = False


@dataclass(frozen=True)
class Outcome:
    """A finished run: counts of graded, kept and failed submissions, and how many others still have no report.

    If there are none of those, `table` is the file of scores, `reports` has every report without its checks, `facts`
    what each adds to the summary of the class, and `finals` the final score of each, in the same order.
    """

    counts: Counter[str]
    left: int
    reports: Sequence[Report] = ()
    facts: Sequence[gradebook.Facts] = ()
    finals: Sequence[gradebook.Final] = ()
    table: Path | None = None

    @property
    def final_scores(self) -> Mapping[str, gradebook.Final]:
        """Return the final score of each student."""
        pairs = zip(self.reports, self.finals, strict=True)
        return {str(report.submission["student"]): final for report, final in pairs}

    @property
    def undecided(self) -> list[str]:
        """Return the students whose submission is held, and nobody has decided what it is worth."""
        held = {str(report.submission["student"]) for report in self.reports if report.is_held}
        return [student for student, final in self.final_scores.items() if student in held and final.is_open]


@dataclass
class ClassRun:
    """Grades the chosen students into a folder, and writes the table once everybody has a report."""

    out: gradebook.Out
    conditions: Conditions
    options: RunOptions
    progress: Progress
    counts: Counter[str] = field(default_factory=Counter)
    _total: int = 0

    def run(self, entries: Sequence[Entry], chosen: frozenset[str], policy: gradebook.Policy) -> Outcome:
        """Grade the submissions of the chosen students. Raises `Interrupted` and `EnvironmentProblem`."""
        shard = self.options.shard
        run = {**self.conditions.to_json(), **self.options.chosen, **({"shard": str(shard)} if shard else {})}
        bulk = Bulk(self.out, self.conditions, anew=chosen if self.options.force else ())
        self._total = len(entries)
        with ending.saying(lambda: self._stopped("interrupted")):
            try:
                plan, wanted = self._plan(bulk, entries, chosen)
                if plan.open:
                    self.out.note_run(run)
                for student in (entry.student for entry in wanted if entry.decisions):
                    self.out.keep_before(student, self.out.report(student))
                if wanted:
                    self._grade(bulk, replace(plan, open=tuple(wanted)))
            except (OSError, CourseChanged) as error:
                raise Interrupted(self._stopped(_reason(error))) from error
        self.counts["kept"] += len(plan.known)
        if left := len(plan.open) - len(wanted):
            return Outcome(self.counts, left)
        rows = list(bulk.rows(entries))
        void = policy.adjustments.void_checks
        reports = [gradebook.with_checks(row.summary, self.out.report(row.student), void) for row in rows]
        handed_in = {entry.student: entry.handed_in for entry in entries}
        table = self.out.write_scores(gradebook.scores_csv(reports, list(self.conditions.exercises), policy, handed_in))
        self.out.note_run({**run, "students": students_json(handed_in)})
        students = [str(report.submission["student"]) for report in reports]
        finals = [
            gradebook.final_of(policy, student, handed_in.get(student), report)
            for student, report in zip(students, reports, strict=True)
        ]
        return Outcome(self.counts, 0, reports, [row.facts for row in rows], finals, table)

    def prove(self, entries: Sequence[Entry], minutes: float) -> str:
        """Search for proofs of where the mistakes are, until the time is over; return a sentence about what was found.

        Equal programs are searched once. Each report is written as soon as its search has ended, so a second run goes
        on. Raises `Interrupted` and `EnvironmentProblem`.
        """
        bulk, suite = Bulk(self.out, self.conditions), load_suite(self.conditions.course)
        groups = list(bulk.unproved(entries).values())
        found: Counter[str] = Counter()
        if not groups:
            return _searched(found, 0)
        exercises = tuple(exercise for exercise in suite.exercises if exercise.id in {id_ for id_, _ in groups})
        plan = Plan((), tuple(entry for _, same in groups for entry in same[:1]), exercises)
        end = time.monotonic() + 60 * minutes
        jobs = self.options.jobs or os.cpu_count() or 1
        with ending.saying(lambda: f"stopped; {_searched(found, len(groups))}"), ExitStack() as stack:
            grade_one, jobs = self._open_grader(bulk, plan, suite, jobs, stack, SEARCH)

            def search(exercise: str, entry: Entry) -> ExerciseResult | None:
                if time.monotonic() > end:
                    return None
                return bulk.search(entry, suite.course.exercise(exercise), suite, grade_one)

            pool = ThreadPoolExecutor(jobs, thread_name_prefix="proving")
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            stack.callback(bulk.stop.set)  # first: what still runs is cancelled, so that the pool ends at once
            tasks = {pool.submit(search, exercise, same[0]): same for exercise, same in groups}
            for task in as_completed(tasks):
                if (result := task.result()) is not None:
                    for entry in tasks[task]:
                        bulk.put_search(entry, result)
                    found["searched"] += 1
                    found["proved"] += is_proved(result)
        return _searched(found, len(groups))

    def _plan(self, bulk: Bulk, entries: Sequence[Entry], chosen: frozenset[str]) -> tuple[Plan, list[Entry]]:
        """Return what is known and open, and the open submissions of the chosen students."""
        if self.options.retry_errors:
            chosen &= {row.student for row in bulk.rows(entries) if row.failed}
            bulk.anew &= chosen
        plan = bulk.plan(entries)
        wanted = [entry for entry in plan.open if entry.student in chosen]
        self._total = len(wanted)
        return plan, wanted

    def _grade(self, bulk: Bulk, plan: Plan) -> None:
        give_back_large_blocks()
        suite = load_suite(self.conditions.course)
        jobs = self.options.jobs or os.cpu_count() or 1
        with ExitStack() as stack:
            grade_one: GradeOne = _refuse
            if plan.exercises:
                grade_one, jobs = self._open_grader(bulk, plan, suite, jobs, stack)
            rate = Rate(len(plan.open), jobs)

            def on_progress(graded: Graded) -> None:
                self.counts["kept" if graded.kept or not graded.ran else "graded"] += 1
                self.counts["counted"] += not graded.kept and not graded.ran
                self.counts["failed"] += graded.row.failed
                rate.count()
                self.progress.on_graded(rate)

            bulk.grade_all(plan.open, suite, grade_one, jobs, on_progress)

    def _open_grader(
        self, bulk: Bulk, plan: Plan, suite: Suite, jobs: int, stack: ExitStack, budget: Budget | None = None
    ) -> tuple[GradeOne, int]:
        """Return what grades one submission, here or on a cluster, and how many are graded at a time.

        What the solutions return is found while the sandbox starts, and misconceptions when a failure asks for them.
        A cluster gets whole answer keys. With a `budget` it searches for proofs.
        """
        conditions, options = self.conditions, self.options
        name = "process" if options.scheduler else conditions.isolation  # for a cluster, only solutions run here
        grader = stack.enter_context(
            Grader(
                suite,
                seed=conditions.seed,
                device=conditions.device,
                finders=jobs,
                budget=budget,
                slots=threading.Semaphore(jobs),
            )
        )
        _stop_with(bulk, grader, stack)
        grader.isolation = stack.enter_context(
            open_grading_isolation(
                name,
                suite,
                device=conditions.device,
                jobs=min(jobs, len(plan.open)),
                command=options.sandbox,
                meanwhile=partial(_prepare, grader, plan, conditions),
            )
        )
        if not options.scheduler:
            self.progress.notify(f"isolation {grader.isolation.sentence}")
        grader.isolation.expect(len(plan.open))
        if not options.scheduler:
            return grader.grade, jobs + JUDGED_BESIDE
        grader.wait_for_keys(self.progress.on_keys, plan.exercises)
        cluster = stack.enter_context(_cluster(options.scheduler, conditions, suite, options.chosen))
        _stop_with(bulk, cluster, stack)
        stack.enter_context(ending.leaving(cluster.leave))
        if not cluster.slots:
            self.progress.notify("the cluster has no worker yet; waiting for one")
        return cluster.grade, options.jobs or max(MOST_WAITING, 2 * cluster.slots)

    def _stopped(self, reason: str) -> str:
        kept = "their reports are whole, and the same command goes on from there"
        done = self.counts["graded"] + self.counts["kept"]
        return f"stopped after {done:,} of {self._total:,} submissions: {reason}; {kept}"


def _searched(found: Counter[str], total: int) -> str:
    """Say how many failures were searched for a proof, and how many wait for the next run."""
    done = f"{plural(found['searched'], 'failure')} searched for a proof, {found['proved']:,} of them proved"
    left = total - found["searched"]
    return f"{done}; {left:,} left: run it again with --prove" if left else done


def _prepare(grader: Grader, plan: Plan, conditions: Conditions) -> None:
    """Find what the first submissions are compared with, and load what shows the class in the end."""
    for entry in plan.open[:FIRST]:
        sources = conditions.read(entry).sources
        grader.find_keys(exercise for exercise in plan.exercises if exercise.file in sources)
    importlib.import_module("autograder.report.terminal")


def _refuse(_submission: Submission, _exercises: Sequence[Exercise]) -> Report:
    """Refuse to run an exercise: the plan had none to run, so something changed since it was made."""
    raise GraderProblem("a submission or its report was changed while grading ran")


def _stop_with(bulk: Bulk, running: "Grader | Cluster", stack: ExitStack) -> None:
    threading.Thread(target=_cancel_after, args=(bulk.stop, running.cancel), daemon=True).start()
    stack.callback(bulk.stop.set)


def _cancel_after(stop: threading.Event, cancel: Callable[[], object]) -> None:
    """Wait until the run has to stop, then kill what still runs."""
    stop.wait()
    cancel()


def _cluster(address: str, conditions: Conditions, suite: Suite, chosen: Mapping[str, object]) -> "Cluster":
    """Send the course to a cluster, with the answer keys that are there. Raises `EnvironmentProblem`."""
    try:
        from .cluster import Cluster  # Dask, which a class on one machine does not need
    except ImportError as error:
        found = f"--scheduler needs the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{found}; install it in the kit's folder: pip install -e '.[cluster]'") from None
    keys = Keys(suite, seed=conditions.seed, device=conditions.device)
    files = [file for exercise in suite.exercises for file in keys.kept(exercise)]
    return Cluster(address, conditions, files, chosen)


def _reason(error: OSError | CourseChanged) -> str:
    if isinstance(error, CourseChanged):
        return str(error)
    return f"{error.strerror}{f' ({error.filename})' if error.filename else ''}"


# The command `course grade`.


class GradingProgress:
    """Prints on stderr how far the grading of a class is."""

    def notify(self, sentence: str) -> None:
        """Print a sentence."""
        warn(sentence)

    def on_keys(self, found: int, total: int) -> None:
        """Show how many answer keys are there."""
        show_count(f"answer keys for this seed: {found} of {total}, made once", last=found == total)

    def on_graded(self, rate: Rate) -> None:
        """Show how many submissions are graded, how fast, and how long the rest takes."""
        show_count(str(rate), last=rate.done == rate.total)


MOST_ROWS = 60
"""A longer table is not read on a terminal; the summary below it is of every student."""


def grade(options: argparse.Namespace) -> int:
    """Run the command. A second run goes on where the first stopped."""
    root = gradebook.grading_course(options.folder, options.course)
    if root != Path.cwd().resolve():
        warn(f"grading by the course in {root}")
    whole = read_course(root)
    course = gradebook.course_of(whole, options.take or (), options.assignment)
    warn(left_out(course))
    if options.prove and options.scheduler:
        raise UsageError("--prove searches on this machine; leave --scheduler out, and run it when the class is graded")
    device = normalize_device(options.device)
    roster = gradebook.find_roster(course, options.roster)
    entries, own, problems = _entries(options, course, roster)
    if (shard := options.shard) is not None:
        roster = gradebook.Roster(tuple(student for student in roster.students if shard.has(student.student)))
        entries = tuple(entry for entry in entries if shard.has(entry.student))
    policy = gradebook.policy_of(course, roster, gradebook.read_adjustments(course))
    students = gradebook.choose_students(entries, options.students)
    seed = gradebook.grading_seed(course, options.seed, options.out)
    conditions = conditions_of(course, seed=seed, device=device, isolation=options.isolation)
    chosen = gradebook.chosen_facts(course.take, options.assignment) if course is not whole else {}
    _keep_earlier_run(options, conditions, chosen, [entry for entry in entries if entry.student in own], roster)
    chosen = {**chosen, **accepted_only(entries, own)}
    settings = RunOptions(
        options.jobs, options.sandbox, options.scheduler, shard, chosen, options.force, options.retry_errors
    )
    try:
        with gradebook.Out(options.out) as out:
            before = gradebook.marks_of(options.out / "scores.csv")
            run = ClassRun(out, conditions, settings, GradingProgress())
            outcome = run.run(entries, students, policy)
            _show(options, out, outcome, policy, before)
            if options.prove and not outcome.left:
                say(run.prove(entries, options.prove))
        doubtful = gradebook.times_to_look_at(course, policy, outcome.final_scores, chosen)
        for sentence in (*gradebook.without_effect(policy), *doubtful):
            warn(sentence)
    except Interrupted as error:
        return _fail(GRADER, str(error))
    except gradebook.Busy as error:
        return _fail(ENVIRONMENT, str(error))
    except OSError as error:
        return _fail(ENVIRONMENT, f"{error.filename or options.out} cannot be written to: {error.strerror}")
    return GRADER if outcome.counts["failed"] or outcome.undecided or problems or doubtful else PASS


def _entries(
    options: argparse.Namespace, course: Course, roster: gradebook.Roster
) -> tuple[tuple[Entry, ...], frozenset[str], tuple[str, ...]]:
    """Return the submissions with what was accepted, the students with a submission, and the reported problems."""
    handout = handout_of(course)
    found = list_submissions(options.folder, course.files, options.layout, roster, handout)
    for sentence in (*found.problems, *found.notes):
        warn(sentence)
    if not found.entries:
        raise UsageError(f"{options.folder} holds no submissions: expected a folder or a zip for each student")
    grouped = gradebook.for_groups(found.entries, roster, gradebook.read_adjustments(course).within(course).times)
    entries, unknown = gradebook.read_accepted(course, options.assignment or "").apply(grouped.entries, roster, handout)
    for sentence in (*grouped.notes, *grouped.problems, *unknown):
        warn(sentence)
    own = frozenset(entry.student for entry in grouped.entries)
    return entries, own, (*found.problems, *grouped.problems, *unknown)


def _keep_earlier_run(
    options: argparse.Namespace,
    conditions: Conditions,
    chosen: Mapping[str, object],
    entries: Sequence[Entry],
    roster: gradebook.Roster,
) -> None:
    """Refuse a run that would replace or lose the results of an earlier one in --out. Raises `UsageError`."""
    refuse_other_run(options.out, conditions, {**chosen, **({"shard": str(options.shard)} if options.shard else {})})
    for sentence in changed_ids(options.out, options.folder, conditions, entries, roster, options.left_out or ()):
        warn(sentence)


def _fail(status: int, sentence: str) -> int:
    ending.hold()
    warn(sentence)
    return status


def _show(
    options: argparse.Namespace, out: gradebook.Out, outcome: Outcome, policy: gradebook.Policy, before: gradebook.Marks
) -> None:
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
        say(f"{found}, and {'is' if one else 'are'} held back without a score: {gradebook.named(held)}")
    say(f"Reports are in {out.reports}, the table in {outcome.table}")
    for line in gradebook.changed_marks(before, gradebook.marks_of(outcome.table) if outcome.table else {}):
        say(line)


def _beyond_the_table(outcome: Outcome, policy: gradebook.Policy) -> Iterator[str]:
    """Yield what the table of earned points does not show: other final scores, and who handed in nothing."""
    pairs = zip(outcome.reports, outcome.finals, strict=True)
    if other := sum(final.score != report.score for report, final in pairs if report.has_score):
        one = other == 1
        why = f"lateness, decisions or the rules of the course change {'it' if one else 'them'}"
        differ = "differs from the total" if one else "differ from the totals"
        yield f"{plural(other, 'final score')} in scores.csv {differ} as graded: {why}"
    if absent := gradebook.missing(policy, (str(report.submission["student"]) for report in outcome.reports)):
        yield f"{plural(len(absent), 'student')} on the roster handed in nothing: {gradebook.named(absent)}"


def _counts(counts: Counter[str]) -> str:
    graded, kept, failed = (counts[name] for name in ("graded", "kept", "failed"))
    again = f", {counts['counted']:,} with points counted again" if counts["counted"] else ""
    return f"{graded:,} graded, {kept:,} kept from before{again}, {failed:,} the grader failed on"


def _show_class(options: argparse.Namespace, out: gradebook.Out, outcome: Outcome, maximum: int) -> None:
    """Print the first students of the class, whose reports are read again, and the summary of everybody."""
    from autograder.report import glyphs_for  # rich, which other output does not need

    files = [out.report(str(summary.submission["student"])) for summary in outcome.reports[:MOST_ROWS]]
    reports = [stored.report for file in files if (stored := gradebook.read_stored(file)) is not None]
    pairs = zip(outcome.facts, outcome.finals, strict=True)
    decisions = {facts.student: final.score for facts, final in pairs if not final.is_open}
    summary = gradebook.summary_of(outcome.facts, maximum, decisions)
    console = make_console(options)
    gradebook.render_class(console, reports, glyphs=glyphs_for(console.encoding), plain=options.plain, summary=summary)
