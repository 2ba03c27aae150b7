"""Shared code of the fuzz tests: their settings, hostile events, and a worker that sends scripted events."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some

from autograder.course import Suite
from autograder.protocol import Array, FrameLimits, Opaque, ProtocolError, Value, read_frame, write_frame
from autograder.runner import Runner, WorkerHandle
from autograder.runner import runner as runner_module
from autograder.runner.process import ANSWER_LIMITS, End, WorkerProcess

NEW_EXAMPLES = bool(os.environ.get("FUZZ_ANEW"))
"""Whether to try new examples instead of those of every test run."""

FULL = NEW_EXAMPLES or bool(os.environ.get("FUZZ_FULL"))
"""Whether to try all examples, as `make proof` does; else a fifth of them."""

SHORT = 5  # with all their examples, the fuzz tests are too long for every change

Event = dict[str, Any]

NO_LIMITS = FrameLimits(1 << 40, 1 << 40, 1 << 40)


def bounded(examples: int) -> Callable[[Any], Any]:
    """Return the settings of a fuzz test: the same examples every time, unless `NEW_EXAMPLES` is set."""
    return settings(
        max_examples=examples if FULL else max(examples // SHORT, 20),
        derandomize=not NEW_EXAMPLES,
        deadline=None,
        database=None,
        print_blob=NEW_EXAMPLES,
        suppress_health_check=list(HealthCheck),
    )


ENDS = (
    *(End("closed"), End("timeout"), End("log"), End("large"), End("malformed")),
    *(End("exit", status) for status in (None, 0, 1, 86, -9, -11, -24, -200)),
)

seeds = some.integers(0, (1 << 64) - 1)
"""Hypothesis draws a seed and the number of changes, and minimises both. Everything else follows from the seed, which
is many times faster."""

ODD: Sequence[Value] = (
    *(None, True, False, 0, 1, 2, -1, 7, 1 << 31, -(1 << 63), 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", "0", "self", "\ud800", "\x1b[2J", "x" * 5000, b"", b"\0", Opaque("a"), [], {}, [[]], {"": None}),
    *(
        "ready",
        "read",
        "surveyed",
        "load",
        "unloadable",
        "begin",
        "traced",
        "observed",
        "raised",
        "stuck",
        "done",
        "unusable",
    ),
    *(Array("float32", (), b"\xff" * 4), Array("bool", (2,), b"\1\xff"), Array("bfloat16", (2, 1), b"\x7f" * 4)),
    *(
        Array("float32", (1 << 40, 1 << 40, 0), b""),
        Array("int64", (0,), b"", "cuda:0"),
        Array("float64", (0, 15), b""),
    ),
)


def hostile(random: Random, recorded: Sequence[Event], changes: int) -> list[Event]:
    """Return recorded events with some changes: an event is dropped, repeated, moved or altered."""
    events = list(recorded)
    for _ in range(changes):
        at, other = (random.randrange(len(events) or 1) for _ in range(2))
        how = random.choice(("drop", "double", "move", "change", "change", "change", "change"))
        if how == "drop" or not events:
            del events[at : at + random.randint(1, 3)]
        elif how == "double":
            events.insert(other, events[at])
        elif how == "move":
            events.insert(other, events.pop(at))
        else:
            events[at] = changed(random, events[at])
    return events


def changed(random: Random, value: Value, depth: int = 0) -> Value:
    """Return a value with one part of it replaced, dropped, repeated, or swapped for another."""
    parts = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    if not parts or (depth and random.random() < 0.2):
        return random.choice(ODD)
    (key, part), (_, other) = random.choice(parts), random.choice(parts)
    made: Any = value.copy()
    match random.choice(("change", "change", "change", "change", "drop", "other", "longer")):
        case "drop":
            del made[key]
        case "other":
            made[key] = other
        case "longer" if isinstance(made, list):
            made += made * 3
        case _:
            made[key] = changed(random, part, depth + 1)
    return made


@dataclass
class Script:
    """The events of the workers of one run, one worker after another, and how each ends. The last one repeats.

    With `surveys`, by exercise, a worker begins as the real one does before any of the student's code has run. `sound`
    has the ids of events that arrive unchanged, so that they need not be encoded and decoded.
    """

    lives: Sequence[tuple[Sequence[Event], End]]
    surveys: Mapping[str, Event] | None = None
    sound: frozenset[int] = frozenset()
    most: int = 80
    started: int = 0
    sent: list[Event] = field(default_factory=list)

    def life(self) -> "Scripted":
        """Start the next worker."""
        self.started += 1
        assert self.started <= self.most, "a run starts workers without end"
        events, end = self.lives[min(self.started, len(self.lives)) - 1]
        return Scripted(self, events, end)


class Scripted(WorkerProcess):
    """A worker without a process that sends the events of a script."""

    def __init__(self, script: Script, events: Sequence[Event], end: End) -> None:
        self.script = script
        self.sent = 0
        self.ready = False
        self._stream: Iterator[Event | End] = self._answers(events, end)

    fresh = False

    def take_log(self) -> bytes:
        return b"output"

    def send(self, job: Value, *, keeps_log: bool = False) -> None:
        self.sent += 1
        self.job = job

    def _answers(self, events: Sequence[Event], end: End) -> Iterator[Event | End]:
        if self.script.surveys is not None:
            exercises = [exercise for exercise, _ in self.job["plan"]]
            yield {"event": "ready", "torch": "2"}
            for exercise in exercises:
                yield {"event": "read", "exercise": exercise}
                yield self.script.surveys[exercise]
            yield {"event": "load", "exercise": exercises[0]}
        for event in events:
            try:
                yield event if id(event) in self.script.sound else transmitted(event)
            except ProtocolError as error:
                yield End("malformed", detail=str(error))
                return
        while True:
            yield end

    def next_event(self, seconds: float) -> Mapping[str, Any] | End:
        event = next(self._stream, End("exit", 1))
        if isinstance(event, End):
            return event
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            return End("malformed", detail="an answer that is no event")
        self.ready = self.ready or event["event"] == "ready"
        self.script.sent.append(event)
        return event

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def transmitted(event: Value, limits: FrameLimits = ANSWER_LIMITS) -> Any:
    """Return an event as it arrives after encoding and decoding; raises `ProtocolError`."""
    rest = memoryview(write_frame(event))

    def read(size: int) -> bytes:
        nonlocal rest
        part, rest = rest[:size], rest[size:]
        return bytes(part)

    return read_frame(read, limits)


def replace_workers(monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    """Replace worker processes by a script."""
    monkeypatch.setattr(runner_module, "WorkerProcess", lambda *_, **__: script.life())


def scripted_runner(suite: Suite, seed: int, *, shared: bool = True) -> Runner:
    """Return a runner that starts no processes, for workers with scripted events."""
    return Runner(suite, seed=seed, shared=shared, start=lambda: cast(WorkerHandle, None))


class Recording(WorkerProcess):
    """A worker process whose events are recorded."""

    recorded: list[Event]

    def next_event(self, seconds: float) -> Mapping[str, Any] | End:
        event = super().next_event(seconds)
        if not isinstance(event, End):
            self.recorded.append(dict(event))
        return event
