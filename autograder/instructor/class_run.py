"""Run the grading of a class: on this machine or a cluster, with answer keys made while the sandbox starts."""

import importlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from autograder import ending
from autograder.answer_key import Keys
from autograder.course import Exercise, Suite, load_suite
from autograder.gradebook import Final, Out, Policy, Shard, final_of, scores_csv
from autograder.judge import Grader
from autograder.report import Facts
from autograder.results import Report
from autograder.runner import EnvironmentProblem, GraderProblem
from autograder.submission import Entry, Submission

from .bulk import (
    Bulk,
    Conditions,
    CourseChanged,
    Graded,
    GradeOne,
    Plan,
    Rate,
    give_back_large_blocks,
    open_grading_isolation,
)
from .shards import students_json

if TYPE_CHECKING:
    from .cluster import Cluster


MOST_WAITING = 64
"""At least so many submissions are with a cluster, so that one which grows finds work."""

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
    shard: Shard | None = None
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
    facts: Sequence[Facts] = ()
    finals: Sequence[Final] = ()
    table: Path | None = None

    @property
    def final_scores(self) -> Mapping[str, Final]:
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

    out: Out
    conditions: Conditions
    options: RunOptions
    progress: Progress
    counts: Counter[str] = field(default_factory=Counter)
    _total: int = 0

    def run(self, entries: Sequence[Entry], chosen: frozenset[str], policy: Policy) -> Outcome:
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
        reports = [row.summary for row in rows]
        handed_in = {entry.student: entry.handed_in for entry in entries}
        table = self.out.write_scores(scores_csv(reports, list(self.conditions.exercises), policy, handed_in))
        self.out.note_run({**run, "students": students_json(handed_in)})
        students = [str(report.submission["student"]) for report in reports]
        finals = [
            final_of(policy, student, handed_in.get(student), report)
            for student, report in zip(students, reports, strict=True)
        ]
        return Outcome(self.counts, 0, reports, [row.facts for row in rows], finals, table)

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

    def _open_grader(self, bulk: Bulk, plan: Plan, suite: Suite, jobs: int, stack: ExitStack) -> tuple[GradeOne, int]:
        """Return what grades one submission, here or on a cluster, and how many are graded at a time.

        The answer keys are made here first, while the sandbox starts.
        """
        conditions, options = self.conditions, self.options
        name = "process" if options.scheduler else conditions.isolation  # for a cluster, only solutions run here
        grader = stack.enter_context(
            Grader(
                suite,
                seed=conditions.seed,
                device=conditions.device,
                finders=jobs,
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
                meanwhile=partial(_prepare, grader, plan),
            )
        )
        if not options.scheduler:
            self.progress.notify(f"isolation {grader.isolation.sentence}")
        grader.isolation.expect(len(plan.open))
        grader.wait_for_keys(self.progress.on_keys, plan.exercises)
        if not options.scheduler:
            return grader.grade, jobs + JUDGED_BESIDE
        cluster = stack.enter_context(_cluster(options.scheduler, conditions, suite))
        _stop_with(bulk, cluster, stack)
        stack.enter_context(ending.leaving(cluster.leave))
        if not cluster.slots:
            self.progress.notify("the cluster has no worker yet; waiting for one")
        return cluster.grade, options.jobs or max(MOST_WAITING, 2 * cluster.slots)

    def _stopped(self, reason: str) -> str:
        kept = "their reports are whole, and the same command goes on from there"
        done = self.counts["graded"] + self.counts["kept"]
        return f"stopped after {done:,} of {self._total:,} submissions: {reason}; {kept}"


def _prepare(grader: Grader, plan: Plan) -> None:
    """Make answer keys, and load what shows the class in the end."""
    grader.find_keys(plan.exercises, with_misconceptions=True)
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


def _cluster(address: str, conditions: Conditions, suite: Suite) -> "Cluster":
    """Send the course to a cluster, with the answer keys that are there. Raises `EnvironmentProblem`."""
    try:
        from .cluster import Cluster
    except ImportError as error:
        found = f"--scheduler needs the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{found}; install it in the kit's folder: pip install -e '.[cluster]'") from None
    keys = Keys(suite, seed=conditions.seed, device=conditions.device)
    return Cluster(address, conditions, [file for exercise in suite.exercises for file in keys.kept(exercise)])


def _reason(error: OSError | CourseChanged) -> str:
    if isinstance(error, CourseChanged):
        return str(error)
    return f"{error.strerror}{f' ({error.filename})' if error.filename else ''}"
