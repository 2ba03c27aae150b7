"""Run one job after another: load the student's files, run the probes, answer with events.

A job is a dict with `sources`, `reference_parts` and `checks` (file name to bytes), `plan` (exercises with their
trials, each a check, its number, its own seed and the column of its sizes), `probes` (what the plan names: checks,
pictures or steps), `sizes` (exercise to its columns), `device`, `exact`, `trace`, `careful` (whether to announce each
check before it begins), `interrupt_seconds` (after which a trial is interrupted, or None), `forbidden` (exercise to
what it forbids), `libraries`, `prints` (whether the log says which trial printed what), `surveys` (whether to report
the syntax of the files) and `limits`. A job may have `repairs` instead: a program, its suspected lines, a number of
edits, and what is known of the mistake (`Clues`).

Every answer is a dict with an `event`.
"""

import builtins
import gc
import importlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any

from autograder.checks import Raises
from autograder.checks.language import Check, checks_in, pictures_in, steps_in
from autograder.checks.structure import Implementation
from autograder.edits.guides import Clues
from autograder.edits.repairs import repairs
from autograder.protocol import Limits, Value, read_frame, write_all, write_frame
from autograder.worker import faults, limits, support
from autograder.worker.bans import Ban
from autograder.worker.labelled_log import LabelledLog
from autograder.worker.observe import observe
from autograder.worker.sources import Sources, compiled

Emit = Callable[[dict[str, Value]], None]

JOB_LIMITS = Limits(text=16 << 20, blob=64 << 20)

PROBES: dict[str, tuple[str, Callable[[ModuleType], Sequence[Any]]]] = {
    "checks": ("test_", checks_in),
    "pictures": ("test_", pictures_in),
    "steps": ("try_", steps_in),
}
"""How the file begins that declares the probes of a plan, and what finds them in it."""

DEFERRED = frozenset({"surveyed", "unloadable", "traced", "observed", "raised"})
"""Events about something that is over: they may be sent together with the next event."""

ENDS = frozenset({"observed", "raised"})
"""Events that end a trial."""

MOST_BUFFERED = 1 << 16
"""Bytes that may wait: as many as a pipe takes at once."""

BUFFERED_SECONDS = 1.0
"""How long events may wait while others follow."""

STDOUT = 1

MOMENT_SECONDS = 0.05
"""How long the beginning of a check may wait: longer than most checks take, too short to be missed."""


class Outbox:
    """Sends events to the judge, several in one write where that loses nothing.

    An event that announces code of the student is sent at once, before that code runs, so that the judge knows where
    a process died. There are two exceptions. Another trial of the same check may wait: its death is charged to the
    check, whichever trial it was. If the job is not `careful`, the beginning of another check may wait for a moment:
    if the process dies meanwhile, the judge runs whatever is missing again, carefully. The beginning of a trial that
    is over before it was sent is never sent.
    """

    def __init__(self, answers: int) -> None:
        self.careful = False
        self._answers = answers
        self._buffer = bytearray()
        self._sent = time.monotonic()
        self._check: object = None
        self._beginning: dict[str, Value] | None = None

    def emit(self, event: dict[str, Value]) -> None:
        """Send an event now, or with one of the next."""
        kind, now = event["event"], time.monotonic()
        waiting_since = now - self._sent
        deferred = kind in DEFERRED
        if self._beginning is not None and kind not in ENDS:
            self._buffer.extend(write_frame(self._beginning))
        self._beginning = None
        if kind == "load":
            self._check = None
        elif kind == "read":
            deferred = not self.careful and waiting_since <= MOMENT_SECONDS
        elif kind == "begin":
            again = self._check == (event["exercise"], event["check"])
            self._check = event["exercise"], event["check"]
            most = BUFFERED_SECONDS if again and not self.careful else MOMENT_SECONDS
            if (again or not self.careful) and waiting_since <= most:
                self._beginning = event
                return
        self._buffer.extend(write_frame(event))
        if not deferred or len(self._buffer) > MOST_BUFFERED or waiting_since > BUFFERED_SECONDS:
            write_all(partial(os.write, self._answers), bytes(self._buffer))
            self._buffer.clear()
            self._sent = now


def serve(requests: int, answers: int) -> None:
    """Answer every job on the descriptor `requests` until it ends."""
    outbox = Outbox(answers)
    vars(builtins).update(exit=sys.exit, quit=sys.exit)  # Python's `site` makes them, and it does not run here
    support.loaded().start()
    gc.freeze()  # objects of libraries live for ever, so a collection need not look at them
    gc.enable()
    outbox.emit({"event": "ready"})
    while (job := read_frame(lambda size: os.read(requests, size), JOB_LIMITS)) is not None:
        if "repairs" in job:
            outbox.emit({"event": "repairs", "edits": _repairs(*job["repairs"])})
            continue
        outbox.careful = job["careful"]
        if sentence := _problem(job):
            outbox.emit({"event": "unusable", "message": sentence})
            return
        Job(job, outbox.emit).run()
        outbox.emit({"event": "done"})


def _repairs(source: str, lines: list[int], most: int, clues: dict[str, Any]) -> list[Value]:
    """Return the edits that may mend a program, as data; none of one that is too deep to be read."""
    try:
        found = repairs(source, lines, most, Clues(**clues))
        return [[edit.line, edit.start, edit.end, edit.text] for edit in found]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _problem(job: dict[str, Any]) -> str | None:
    """Return a sentence if this machine lacks a library or a device of a job."""
    try:
        support.load(job["libraries"])
    except support.LibraryMissing as error:
        return str(error)
    return support.loaded().missing_device(job["device"])


class Job:
    """Runs the probes of some exercises on the sources of one submission."""

    def __init__(self, job: dict[str, Any], emit: Emit) -> None:
        self.job = job
        self.emit = emit
        self.sources = Sources(job["sources"], job["reference_parts"])
        self.limits = limits.ResourceLimits(job["limits"], self._stuck)
        self.log = LabelledLog(STDOUT) if job["prints"] else None

    def run(self) -> None:
        """Run the whole plan; every error of the student's code becomes an event."""
        self.sources.install()
        prefix, _ = PROBES[self.job["probes"]]
        for exercise, _ in self.job["plan"]:
            support.loaded().prepare(self.job["checks"].get(f"{prefix}{exercise}.py", b""))
        support.loaded().withhold(sorted({name for names in self.job["forbidden"].values() for name in names}))
        self.limits.confine(device=self.job["device"])
        try:
            for exercise, _ in self.job["plan"] if self.job["surveys"] else ():
                self._survey(exercise)
            with self._capturing():
                for exercise, trials in self.job["plan"]:
                    self._exercise(exercise, trials)
        finally:
            self.sources.uninstall()

    def _capturing(self) -> AbstractContextManager[None]:
        return self.log.capturing() if self.log is not None else nullcontext()

    def _survey(self, exercise: str) -> None:
        """Report the syntax of a file before any student's code runs, so that no code can change the report."""
        self.emit({"event": "read", "exercise": exercise})
        self.limits.start()
        try:
            survey = self.sources.survey(exercise, self.job["forbidden"].get(exercise, []))
        except Exception:
            return  # a file that cannot be parsed cannot be imported either, and the import reports why
        self.emit({"event": "surveyed", "exercise": exercise, **survey})

    def _exercise(self, exercise: str, trials: list[list[Any]]) -> None:
        probes = self._probes(exercise)
        names = self.job["forbidden"].get(exercise, [])
        file = f"{exercise}.py"
        with self.sources.engine_hidden(), support.loaded().forbid(names, (file,)) as ban:
            self.sources.replace_builtins(file, ban.builtins())
            if (implementation := self._load(exercise)) is not None:
                sizes = self.job["sizes"][exercise]
                for check, trial, seed, column in trials:
                    where = {"exercise": exercise, "check": check, "trial": trial}
                    given = self._given(probes[check], seed, sizes[column])
                    self._trial(where, seed, given, probes[check].probe, implementation, ban)

    def _load(self, exercise: str) -> object | None:
        self.emit({"event": "load", "exercise": exercise})
        if self.log is not None:
            self.log.begin(exercise)
        self.limits.start(importing=True)
        _reset_process(0, self.job["device"])
        try:
            return Implementation(importlib.import_module(exercise))
        except BaseException as error:
            fault = faults.describe(error, self.sources.names, self.sources.files)
            self.emit({"event": "unloadable", "exercise": exercise, "fault": fault})
            return None

    def _probes(self, exercise: str) -> dict[str, Any]:
        prefix, declared_in = PROBES[self.job["probes"]]
        name = f"{prefix}{exercise}"
        module = ModuleType(name)
        exec(compiled(self.job["checks"][f"{name}.py"], f"{name}.py"), module.__dict__)
        return {item.id: item for item in declared_in(module)}

    def _given(self, item: Any, seed: int, sizes: dict[str, int]) -> Any:
        """Return the inputs of a trial, on the device of the job.

        Those of pictures and steps are on the CPU, as on paper, and so are those of a check for an exception: CUDA
        reports an index that is too large late, and the process can go no further.
        """
        on_device = isinstance(item, Check) and not isinstance(item.judge, Raises)
        device = self.job["device"] if on_device else "cpu"
        return support.loaded().given(seed, sizes, device, exact=self.job["exact"], traced=self.job["trace"])

    def _trial(
        self,
        where: dict[str, Any],
        seed: int,
        given: Any,
        probe: Callable[..., Any],
        implementation: object,
        ban: Ban,
    ) -> None:
        job = self.job
        self.emit({"event": "begin", **where})
        if self.log is not None:
            self.log.begin(**where)
        own = support.loaded()
        tracing = own.tracing(self.sources.names, self.sources.files, parts=job["exact"]) if job["trace"] else None
        self.limits.start()
        _reset_process(seed, job["device"])
        started = time.perf_counter()
        try:
            with tracing or nullcontext(), limits.interrupted_after(job["interrupt_seconds"]):
                returned = probe(implementation, given)
            value = observe(returned)
            ban.check()
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a student are errors like others
            file = f"{PROBES[job['probes']][0]}{where['exercise']}.py"
            fault = faults.describe(error, self.sources.names, self.sources.files, file)
            if tracing is not None:
                self.emit({"event": "traced", **where, **tracing.as_data()})
            self.emit({"event": "raised", **where, "fault": fault, "seconds": time.perf_counter() - started})
            return
        if tracing is not None:
            self.emit({"event": "traced", **where, **tracing.as_data(returned)})
        self.emit({"event": "observed", **where, "value": value, "seconds": time.perf_counter() - started})

    def _stuck(self, frame: Any) -> None:
        """Report where the student's code is stuck, and end the process; runs in a signal handler."""
        frames = faults.frames_of(frame, self.sources.names)
        if self.log is not None:
            self.log.finish()
        self.emit({"event": "stuck", "frames": [self.sources.endless(frames)] if frames else []})
        os._exit(limits.STUCK)


def _reset_process(seed: int, device: str) -> None:
    """Restore settings of the process that a student's code may have changed, and seed every generator."""
    support.loaded().reset(seed, device)
    sys.setrecursionlimit(1000)
