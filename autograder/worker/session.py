"""Run one job after another: load the student's files, run the probes, answer with events.

A job is a dict with `sources`, `reference_parts` and `checks` (file name to bytes), `plan` (exercises with their
trials, each a check, its number, its own seed and the column of its sizes), `probes` (what the plan names: checks,
pictures or steps), `sizes` (exercise to its columns), `device`, `exact`, `trace`, `careful` (whether to announce each
check before it begins), `interrupt_seconds` (after which a trial is interrupted, or None), `forbidden` (exercise to
what it forbids), `usual` (what programs of the course use, and what is odd), `libraries`, `prints` (whether the log
says which trial printed what), `surveys` (whether to report the syntax of the files) and `limits`. A job may have
`repairs` instead: a program, its suspected lines, a number of edits, and what is known of the mistake (`Clues`).

Every answer is a dict with an `event`.
"""

import builtins
import gc
import importlib
import io
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from autograder.checks import Check, Implementation, Raises, checks_in, pictures_in, steps_in
from autograder.edits import Clues, repairs
from autograder.protocol import (
    INT_BITS,
    OBSERVATION_DEPTH,
    OBSERVATION_KEY,
    OBSERVATION_PARTS,
    OBSERVATION_TEXT,
    FrameLimits,
    Opaque,
    Usual,
    Value,
    cut,
    label,
    read_frame,
    write_all,
    write_frame,
)

from .faults import describe, frames_of
from .sources import Sources, compiled
from .support import LibraryMissing, load_support, loaded
from .syntax import Ban

# Turn the return value of a probe into plain data. Methods that a student's class overrides have no effect here.


def observe(value: Any, depth: int = 0) -> Value:
    """Return an observation as a plain value; an object that is not data becomes an `Opaque` with its type's name."""
    if value is None or type(value) in (bool, int, float):
        return value if not isinstance(value, int) or abs(value) < 1 << INT_BITS else Opaque("an enormous int")
    if isinstance(value, str):
        return cut(str.__str__(value), OBSERVATION_TEXT)  # past a subclass's own __str__
    if isinstance(value, bytes | bytearray):
        return bytes(memoryview(value)[:OBSERVATION_TEXT])  # past a subclass's own methods
    if (found := loaded().observe(value)) is not None:
        return observe(found, depth) if type(found) is int else found
    if depth < OBSERVATION_DEPTH and isinstance(value, list | tuple) and len(value) <= OBSERVATION_PARTS:
        return [observe(part, depth + 1) for part in value]
    if depth < OBSERVATION_DEPTH and isinstance(value, dict) and len(value) <= OBSERVATION_PARTS:
        parts = {cut(str(key), OBSERVATION_KEY): observe(part, depth + 1) for key, part in value.items()}
        # The keys 1 and "1" have one name, so one of their values would be lost.
        return parts if len(parts) == len(value) else Opaque("dict with two keys of one name")
    return Opaque(f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins."))


# The output streams of a learner's code in a self-check: they say of each part of the log which trial printed it.

PROMPT_BYTES = 1 << 16
"""After so many bytes the streams are buffered: a flood of prints would take most of its time in system calls."""


class LabelledLog:
    """Writes what is printed at once, so that nothing is lost if the process dies. A label precedes each part."""

    def __init__(self, descriptor: int) -> None:
        self._label = b""
        self._written = 0
        # As Python opens the standard streams, but without a buffer.
        self._stdout, self._stderr = (
            io.TextIOWrapper(_Stream(descriptor, self), "utf-8", errors, write_through=True)
            for errors in ("surrogateescape", "backslashreplace")
        )

    def begin(self, exercise: str, check: str = "", trial: int = 0) -> None:
        """Begin a part. Its label is written only if something is printed."""
        self.finish()
        self._label = label(exercise, check, trial)

    def finish(self) -> None:
        """Write what is still buffered. A program may have closed a stream."""
        for stream in (self._stdout, self._stderr):
            with suppress(OSError, ValueError):
                stream.flush()

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Replace the standard streams within the block."""
        with redirect_stdout(self._stdout), redirect_stderr(self._stderr):
            try:
                yield
            finally:
                self.finish()

    def take_label(self, written: int) -> bytes:
        """Return the label to write before so many bytes, empty if it is written already."""
        first, self._label = self._label, b""
        self._written += written
        if self._written > PROMPT_BYTES:
            for stream in (self._stdout, self._stderr):
                with suppress(OSError, ValueError):
                    stream.reconfigure(write_through=False)
        return first


class _Stream(io.FileIO):
    """The descriptor of the log, for one of the two streams: each can be closed without the other."""

    def __init__(self, descriptor: int, log: LabelledLog) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._log = log

    def write(self, data: Any) -> int:
        """Write all of the data, below its label. A log that was closed costs a program nothing but its prints."""
        with suppress(OSError):
            for part in filter(None, (self._log.take_label(len(data)), data)):
                write_all(super().write, part)
        return len(data)


# Resource limits a worker sets for itself before it runs a student's code. The judge enforces others from outside.
#
# The kernel enforces memory and CPU time on Linux and macOS. On Windows only the judge's limit on wall time holds.

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STUCK = 86
"""The exit status of a worker that ran out of time and could still report where."""

FILE_BYTES = 16 << 20


class ResourceLimits:
    """Limits CPU time for each trial and memory for the whole process; does nothing without `limits`.

    When the CPU time is used up, `on_stuck` is called with the running frame.
    """

    def __init__(self, limits: Mapping[str, int] | None, on_stuck: Callable[[FrameType | None], None]) -> None:
        self.limits = limits
        self.on_stuck = on_stuck

    def confine(self, *, device: str) -> None:
        """Limit memory, core dumps and the size of written files. Memory not with CUDA: it reserves too much."""
        if resource is None or self.limits is None:
            return
        signal.signal(signal.SIGXCPU, lambda _signal, frame: self.on_stuck(frame))
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
        size = _recorded or _address_space()
        if size is not None and not device.startswith("cuda"):
            # What torch itself takes is not the student's, so the limit comes on top of it.
            _lower(resource.RLIMIT_AS, size + (self.limits["memory_mib"] << 20))

    def start(self, *, importing: bool = False) -> None:
        """Start the CPU time of the next trial; the kernel sends SIGXCPU when it is used up.

        An import may use as much as its wall time: libraries that draw take seconds to load.
        """
        if resource is None or self.limits is None:
            return
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        seconds = self.limits["wall_seconds" if importing else "cpu_seconds"]
        until = math.ceil(time.process_time() + seconds)  # the kernel counts since process start
        if hard != resource.RLIM_INFINITY:
            until = min(until, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


@contextmanager
def interrupted_after(seconds: float | None) -> Iterator[None]:
    """Raise `TimeoutError` in the code that runs if it computes for longer, unless it is in a call of a library.

    The time is that of the processor: what runs on a busy machine ends as it does on a quiet one. An interruption
    keeps the worker, but code that catches every error goes on: a limit it is not. Does nothing without `seconds`, and
    on Windows.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


_recorded: int | None = None


def record_address_space() -> None:
    """Record the address space in use, for a process that will soon have no /proc to read it from."""
    global _recorded
    _recorded = _address_space()


def _lower(which: int, most: int) -> None:
    """Lower a limit for good, unless it is lower already."""
    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(which, (most, most))


def _address_space() -> int | None:
    """Return the bytes of address space in use; None without /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return None


Emit = Callable[[dict[str, Value]], None]

JOB_LIMITS = FrameLimits(text=16 << 20, blob=64 << 20)

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
    loaded().start()
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
        load_support(job["libraries"])
    except LibraryMissing as error:
        return str(error)
    return loaded().missing_device(job["device"])


class Job:
    """Runs the probes of some exercises on the sources of one submission."""

    def __init__(self, job: dict[str, Any], emit: Emit) -> None:
        self.job = job
        self.emit = emit
        self.sources = Sources(job["sources"], job["reference_parts"])
        self.usual = Usual(tuple(job["usual"][0]), tuple((why, tuple(entries)) for why, entries in job["usual"][1]))
        self.limits = ResourceLimits(job["limits"], self._stuck)
        self.log = LabelledLog(STDOUT) if job["prints"] else None

    def run(self) -> None:
        """Run the whole plan; every error of the student's code becomes an event."""
        self.sources.install()
        prefix, _ = PROBES[self.job["probes"]]
        for exercise, _ in self.job["plan"]:
            loaded().prepare(self.job["checks"].get(f"{prefix}{exercise}.py", b""))
        self.limits.confine(device=self.job["device"])
        try:
            for exercise, _ in self.job["plan"] if self.job["surveys"] else ():
                self._survey(exercise)
            with self.log.capturing() if self.log is not None else nullcontext():
                for exercise, trials in self.job["plan"]:
                    self._exercise(exercise, trials)
        finally:
            self.sources.uninstall()

    def _survey(self, exercise: str) -> None:
        """Report the syntax of a file before any student's code runs, so that no code can change the report."""
        self.emit({"event": "read", "exercise": exercise})
        self.limits.start()
        try:
            survey = self.sources.survey(exercise, self.job["forbidden"].get(exercise, []), self.usual)
        except Exception:
            return  # a file that cannot be parsed cannot be imported either, and the import reports why
        self.emit({"event": "surveyed", "exercise": exercise, **survey})

    def _exercise(self, exercise: str, trials: list[list[Any]]) -> None:
        probes = self._probes(exercise)
        names = self.job["forbidden"].get(exercise, [])
        file = f"{exercise}.py"
        self.emit({"event": "load", "exercise": exercise})
        if self.log is not None:
            self.log.begin(exercise)
        self.limits.start(importing=True)  # what it forbids may be in a library of its own, which is loaded then
        with self.sources.engine_hidden(), loaded().forbid(names, (file,)) as ban:
            self.sources.replace_builtins(file, ban.builtins())
            if (implementation := self._load(exercise)) is not None:
                sizes = self.job["sizes"][exercise]
                for check, trial, seed, column in trials:
                    where = {"exercise": exercise, "check": check, "trial": trial}
                    given = self._given(probes[check], seed, sizes[column])
                    self._trial(where, seed, given, probes[check].probe, implementation, ban)

    def _load(self, exercise: str) -> object | None:
        _reset_process(0, self.job["device"])
        try:
            return Implementation(importlib.import_module(exercise))
        except BaseException as error:
            fault = describe(error, self.sources.names, self.sources.files)
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
        return loaded().given(seed, sizes, device, exact=self.job["exact"], traced=self.job["trace"])

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
        own = loaded()
        tracing = own.tracing(self.sources.names, self.sources.files, parts=job["exact"]) if job["trace"] else None
        self.limits.start()
        _reset_process(seed, job["device"])
        started = time.perf_counter()
        try:
            with tracing or nullcontext(), interrupted_after(job["interrupt_seconds"]):
                returned = probe(implementation, given)
            value = observe(returned)
            ban.check()
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a student are errors like others
            file = f"{PROBES[job['probes']][0]}{where['exercise']}.py"
            fault = describe(error, self.sources.names, self.sources.files, file)
            if tracing is not None:
                self.emit({"event": "traced", **where, **tracing.as_data()})
            self.emit({"event": "raised", **where, "fault": fault, "seconds": time.perf_counter() - started})
            return
        if tracing is not None:
            self.emit({"event": "traced", **where, **tracing.as_data(returned)})
        self.emit({"event": "observed", **where, "value": value, "seconds": time.perf_counter() - started})

    def _stuck(self, frame: Any) -> None:
        """Report where the student's code is stuck, and end the process; runs in a signal handler."""
        frames = frames_of(frame, self.sources.names)
        if self.log is not None:
            self.log.finish()
        self.emit({"event": "stuck", "frames": [self.sources.endless(frames)] if frames else []})
        os._exit(STUCK)


def _reset_process(seed: int, device: str) -> None:
    """Restore settings of the process that a student's code may have changed, and seed every generator."""
    loaded().reset(seed, device)
    warnings.formatwarning = _in_one_line
    sys.setrecursionlimit(1000)


def _in_one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning as Python writes it, but in one line: the rest of a text would look like a print."""
    del line
    return f"{filename}:{lineno}: {category.__name__}: {' '.join(str(message).split())}\n"
