"""One job after another: load the student's files, run the probes, answer with events.

A job is a dict: `sources`, `reference_parts` and `checks` (file name to bytes), `plan` (exercises with their trials,
each a check, its number, its own seed and the column of its sizes), `pictures` (whether the plan is of pictures instead
of checks), `sizes`, `device`, `exact`, `trace`, `careful` (whether each check is told of before it begins),
`forbidden` (exercise to dotted names) and `limits`. Every answer is a dict with an `event`.
"""

import gc
import importlib
import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np
import torch

from autograder.checks.given import Given, seed_torch
from autograder.checks.language import checks_in, pictures_in
from autograder.checks.structure import Implementation
from autograder.protocol import Limits, Value, read_frame, write_frame
from autograder.worker import faults, limits, passages
from autograder.worker.forbidding import Ban, forbidding, keep_kernels
from autograder.worker.observe import observe
from autograder.worker.sources import Sources, compiled
from autograder.worker.tracing import Tracing

Emit = Callable[[dict[str, Value]], None]

JOB_LIMITS = Limits(text=16 << 20, blob=64 << 20)

TOLD_LATER = frozenset({"surveyed", "unloadable", "traced", "observed", "raised"})
"""What is over: it is sent with what comes next, which is sent at once, before any of the student's code runs.

Only another trial of the same check waits, too: a death in it is that of the check, whichever trial it is said of. And
where the job is not a careful one, other checks wait for a moment: if the process dies meanwhile, the judge has what it
did not hear of run again, carefully. What has waited until its end need not be said any more.
"""

ENDS = frozenset({"observed", "raised"})
"""What says that a trial is over."""

MOST_HELD = 1 << 16
HELD_SECONDS = 1.0
"""No more bytes than these are kept back, and nothing for longer when there is more to say."""

MOMENT_SECONDS = 0.05


def serve(requests: int, answers: int) -> None:
    """Answer every job on the descriptor `requests` until it ends."""

    held = bytearray()
    careful = False
    sent = time.monotonic()
    begun: object = None
    beginning: dict[str, Value] | None = None

    def emit(event: dict[str, Value]) -> None:
        nonlocal sent, begun, beginning
        kind, now = event["event"], time.monotonic()
        waits = kind in TOLD_LATER
        if beginning is not None and kind not in ENDS:
            held.extend(write_frame(beginning))
        beginning = None
        if kind == "load":
            begun = None
        elif kind == "read":
            waits = not careful and now - sent <= MOMENT_SECONDS
        elif kind == "begin":
            again = begun == (event["exercise"], event["check"])
            begun = event["exercise"], event["check"]
            most = HELD_SECONDS if again and not careful else MOMENT_SECONDS
            if (again or not careful) and now - sent <= most:
                beginning = event
                return
        held.extend(write_frame(event))
        if not waits or len(held) > MOST_HELD or now - sent > HELD_SECONDS:
            _write_all(answers, bytes(held))
            held.clear()
            sent = now

    passages.watch_imports()
    gc.freeze()
    gc.enable()
    torch.set_num_threads(1)
    emit({"event": "ready", "torch": torch.__version__})
    while (job := read_frame(lambda size: os.read(requests, size), JOB_LIMITS)) is not None:
        careful = job["careful"]
        if sentence := _missing_device(job["device"]):
            emit({"event": "unusable", "message": sentence})
            return
        Job(job, emit).run()
        emit({"event": "done"})


def _missing_device(name: str) -> str | None:
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        return f"the device {name} cannot be used here ({first}); leave --device out to check on the CPU"
    return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Job:
    """The probes of some exercises, run on the sources of one submission."""

    def __init__(self, job: dict[str, Any], emit: Emit) -> None:
        self.job = job
        self.emit = emit
        self.sources = Sources(job["sources"], job["reference_parts"])
        self.limits = limits.Watch(job["limits"], self._stuck)

    def run(self) -> None:
        """Run the whole plan; what the student's code does wrong becomes an event."""
        self.sources.install()
        keep_kernels(sorted({name for names in self.job["forbidden"].values() for name in names}))
        self.limits.confine(device=self.job["device"])
        try:
            for exercise, _ in self.job["plan"]:
                self._survey(exercise)
            for exercise, trials in self.job["plan"]:
                self._exercise(exercise, trials)
        finally:
            self.sources.uninstall()

    def _survey(self, exercise: str) -> None:
        """Say what a file is made of, while none of it has run: nothing that it does can change what is said of it."""
        self.emit({"event": "read", "exercise": exercise})
        self.limits.start()
        try:
            survey = self.sources.survey(exercise, self.job["forbidden"].get(exercise, []))
        except Exception:
            return  # what cannot be parsed cannot be imported either, and then says why
        self.emit({"event": "surveyed", "exercise": exercise, **survey})

    def _exercise(self, exercise: str, trials: list[list[Any]]) -> None:
        probes = self._probes(exercise)
        names = self.job["forbidden"].get(exercise, [])
        with self.sources.engine_hidden(), forbidding(names) as ban:
            if (implementation := self._load(exercise)) is not None:
                for check, trial, seed, column in trials:
                    where = {"exercise": exercise, "check": check, "trial": trial}
                    self._draw(where, seed, self.job["sizes"][column], probes[check], implementation, ban)

    def _load(self, exercise: str) -> object | None:
        self.emit({"event": "load", "exercise": exercise})
        self.limits.start()
        _calm(0)
        try:
            return Implementation(importlib.import_module(exercise))
        except BaseException as error:
            fault = faults.describe(error, self.sources.names)
            self.emit({"event": "unloadable", "exercise": exercise, "fault": fault})
            return None

    def _probes(self, exercise: str) -> dict[str, Callable[..., Any]]:
        name = f"test_{exercise}"
        module = ModuleType(name)
        exec(compiled(self.job["checks"][f"{name}.py"], f"{name}.py"), module.__dict__)
        declared = pictures_in(module) if self.job["pictures"] else checks_in(module)
        return {each.id: each.probe for each in declared}

    def _draw(
        self,
        where: dict[str, Any],
        seed: int,
        sizes: dict[str, int],
        probe: Callable[..., Any],
        implementation: object,
        ban: Ban,
    ) -> None:
        job = self.job
        self.emit({"event": "begin", **where})
        tracing = Tracing(self.sources.names, parts=job["exact"]) if job["trace"] else nullcontext()
        given = Given(seed, sizes, job["device"], exact=job["exact"], traced=job["trace"])
        self.limits.start()
        _calm(seed)
        started = time.perf_counter()
        try:
            with tracing:
                returned = probe(implementation, given)
            value = observe(returned)
            ban.check()
        except BaseException as error:
            fault = faults.describe(error, self.sources.names)
            if isinstance(tracing, Tracing):
                self.emit({"event": "traced", **where, **tracing.told()})
            self.emit({"event": "raised", **where, "fault": fault, "seconds": time.perf_counter() - started})
            return
        if isinstance(tracing, Tracing):
            self.emit({"event": "traced", **where, **tracing.told(returned)})
        self.emit({"event": "observed", **where, "value": value, "seconds": time.perf_counter() - started})

    def _stuck(self, frame: Any) -> None:
        """Told by the watch, in the middle of the student's code: say where it is, and end."""
        frames = faults.frames_of(frame, self.sources.names)
        self.emit({"event": "stuck", "frames": [self.sources.endless(frames)] if frames else []})
        os._exit(limits.STUCK)


def _calm(seed: int) -> None:
    """Put back what a student's code may have set for the whole process."""
    seed_torch(seed)
    torch.backends.mha.set_fastpath_enabled(False)
    np.random.seed(seed)
    random.seed(seed)
    if torch.get_default_dtype() != torch.float32:
        torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    sys.setrecursionlimit(1000)
