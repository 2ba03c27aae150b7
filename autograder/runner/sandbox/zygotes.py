"""Zygotes, seen from the judge: each is started, warmed, watched, asked for children, and replaced in time."""

import contextlib
import itertools
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any, TypeVar

from autograder import ending
from autograder.protocol import Value, write_frame
from autograder.runner.run import GraderProblem
from autograder.runner.sandbox.channels import Channel, Passing, Streaming, pair
from autograder.runner.sandbox.forked import Forked, Offspring, pipes
from autograder.runner.sandbox.launch import Launch

START_SECONDS = 180.0
FORK_SECONDS = 30.0
MOST_CHILDREN = 1000
"""A zygote is replaced after so many: what the kernel or an allocator may gather does not gather for ever."""

LONG_RUN = 16
"""Where so many children are to come, or have come, large pages for them are worth making."""

KEPT_LOG = 8 << 10
Born = TypeVar("Born", bound=Offspring)


class ZygoteError(GraderProblem):
    """A zygote could not be started, or gave no child; the message says what it said."""


class Zygote:
    """One zygote. `fork` may be called from several threads."""

    def __init__(self, channel: Channel, log: bytearray | None = None) -> None:
        """Hear a zygote that has begun to start; raises `ZygoteError`. One that was split off has another's log."""
        self._channel = channel
        self._asking = threading.Lock()
        self._replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self._children: dict[int, Offspring] = {}
        self._early: dict[int, dict[str, Any]] = {}
        self._known = threading.Lock()
        self._log = bytearray() if log is None else log
        self.forks = 0
        self.usable = True
        if isinstance(channel.process, subprocess.Popen):
            threading.Thread(target=self._read_log, args=(channel.process.stderr,), daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.facts = self._reply(START_SECONDS)
        except ZygoteError:
            self.close()
            raise

    @classmethod
    def start(cls, launch: Launch | Sequence[str], warm_up: Value) -> "Zygote":
        """Start a zygote, and warm it with a job; raises `ZygoteError`, and OSError where the job cannot be written."""
        try:
            zygote = cls(Passing.start(launch) if isinstance(launch, Launch) else Streaming(launch))
        except OSError as error:
            raise ZygoteError(f"the sandbox could not be started: {error}") from error
        try:
            zygote._warm(warm_up)
        except (OSError, ZygoteError):
            zygote.close()
            raise
        return zygote

    def split(self) -> "Zygote":
        """Return another zygote, as warm as this one, that lives no longer. Raises `ZygoteError`."""
        assert isinstance(self._channel, Passing)
        ours, theirs = pair()
        try:
            with theirs:
                reply = self._ask(partial(self._channel.split, theirs))
        except ZygoteError:
            ours.close()
            raise
        return Zygote(Passing(ours, self._born(Offspring(reply["child"], reply["signal"]))), self._log)

    def enlarge(self) -> None:
        """Have it put what it holds into large pages, for those that are split off it then. Raises `ZygoteError`."""
        assert isinstance(self._channel, Passing)
        self._ask(self._channel.enlarge)

    @property
    def alive(self) -> bool:
        return self.usable and self._channel.process.poll() is None

    @property
    def busy(self) -> int:
        """How many children live."""
        return len(self._children)

    def fork(self, layers: Mapping[str, Any]) -> Forked:
        """Return a new child, confined as asked; raises `ZygoteError`, and then the zygote is not to be used again."""
        ours, theirs = pipes()
        try:
            reply = self._ask(partial(self._channel.fork, {"do": "fork", **layers}, theirs))
        except ZygoteError:
            for each in ours:
                os.close(each)
            raise
        finally:
            for each in theirs:
                os.close(each)
        return self._born(Forked(reply["child"], reply["signal"], ours, int(layers["cpu_seconds"])))

    def close(self) -> None:
        """Kill the zygote, and with it every child."""
        self.usable = False
        with contextlib.suppress(OSError):
            self._channel.process.kill()
        if isinstance(self._channel.process, subprocess.Popen):
            self._channel.process.wait()
            ending.forget(self._channel.process)
        self._channel.close()

    def _ask(self, send: Callable[[], None]) -> dict[str, Any]:
        """Return what the zygote replies to a request; it is not to be used again where it does not."""
        try:
            with self._asking:
                self.forks += 1
                send()
                return self._reply(FORK_SECONDS)
        except (OSError, ZygoteError) as error:
            self.usable = False
            raise ZygoteError(str(error)) from error

    def _born(self, child: Born) -> Born:
        """Keep a process until the zygote tells of its end, which it may have done before."""
        ending.started(lambda: child)
        with self._known:
            self._children[child.number] = child
            if early := self._early.pop(child.number, None):
                self._end(early)
        return child

    def _warm(self, job: Value) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(write_frame(job))
            file.seek(0)
            self._channel.warm(file.fileno())
            self._reply(START_SECONDS)

    def _reply(self, seconds: float) -> dict[str, Any]:
        try:
            reply = self._replies.get(timeout=seconds)
        except queue.Empty:
            reply = {"event": "gone", "why": f"the zygote did not answer in {seconds:.0f} s"}
        if reply["event"] in ("failed", "gone"):
            said = self._log.decode("utf-8", "replace").strip()[-500:]
            raise ZygoteError(" ".join(filter(None, [reply["why"], f"({said})" if said else ""])))
        return reply

    def _listen(self) -> None:
        """Hear everything the zygote says, until it is no more."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            while heard := self._channel.hear():
                event, send = heard
                if event["event"] == "ended":
                    with self._known:
                        self._end(event)
                else:
                    self._replies.put({**event, "signal": send})
        self.usable = False
        ending.hold()
        self._replies.put({"event": "gone", "why": "the zygote ended"})
        with self._known:
            for child in self._children.values():
                child.lost = True
                child.end(-signal.SIGKILL)
            self._children.clear()

    def _end(self, event: dict[str, Any]) -> None:
        child = self._children.pop(event["child"], None)
        if child is None:
            self._early[event["child"]] = event
        else:
            child.end(event["status"], event["cpu_seconds"])

    def _read_log(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(stream.fileno(), 1 << 12):
                self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])


class Zygotes:
    """As many zygotes as there are jobs, each made when it is needed; a child comes of the one with the fewest.

    On this machine they are split off one that loads torch for all of them; behind a relay each starts by itself. In a
    long run that one gets large pages beside the grading, and all are split off it anew.
    """

    def __init__(self, launch: Launch | Sequence[str], warm_up: Value, count: int) -> None:
        self._first = _Slot(partial(Zygote.start, launch, warm_up))
        if isinstance(launch, Launch):
            self._slots = [_Slot(self._split) for _ in range(count)]
        else:
            self._slots = [self._first, *(_Slot(partial(Zygote.start, launch, warm_up)) for _ in range(count - 1))]
        self._lock = threading.Lock()
        self._forks = itertools.count(1)
        self._large = self._first in self._slots

    def _split(self) -> Zygote:
        """Return a zygote split off the first. If that fails, it is replaced once; raises `ZygoteError`."""
        try:
            return self._first.zygote().split()
        except ZygoteError:
            return self._first.zygote().split()

    def start(self) -> None:
        """Begin to start all of them, beside everything else."""
        for slot in self._slots:
            threading.Thread(target=slot.begin, daemon=True).start()

    def fork(self, layers: Mapping[str, Any]) -> Forked:
        """Return a new child. A zygote that fails is replaced once; raises `ZygoteError`."""
        if next(self._forks) == LONG_RUN:
            self.expect(LONG_RUN)
        with self._slot() as slot:
            try:
                return slot.zygote().fork(layers)
            except ZygoteError:
                return slot.zygote().fork(layers)

    def expect(self, children: int) -> None:
        """Hear that so many children are to come."""
        with self._lock:
            begin = children >= LONG_RUN and not self._large
            self._large = self._large or begin
        if begin:
            threading.Thread(target=self._enlarge, daemon=True).start()

    def _enlarge(self) -> None:
        with contextlib.suppress(OSError, ZygoteError):
            for slot in self._slots:
                slot.zygote()
            self._first.zygote().enlarge()
            for slot in self._slots:
                slot.renew()

    def some(self) -> Zygote:
        """Return a zygote that lives; raises `ZygoteError`."""
        with self._slot() as slot:
            return slot.zygote()

    @contextlib.contextmanager
    def _slot(self) -> Iterator["_Slot"]:
        """Give the slot with the least to do, and count what is being asked of it."""
        with self._lock:
            slot = min(self._slots, key=lambda each: each.asked + each.busy)
            slot.asked += 1
        try:
            yield slot
        finally:
            with self._lock:
                slot.asked -= 1

    def close(self) -> None:
        """Kill them all."""
        for slot in (*self._slots, self._first):
            slot.close()


class _Slot:
    """A place for a zygote. One that failed, or has had its time, gives way to another, and lives until it is idle."""

    def __init__(self, make: Callable[[], Zygote]) -> None:
        self._make = make
        self.asked = 0
        self._now: Zygote | None = None
        self._retired: list[Zygote] = []
        self._lock = threading.Lock()
        self._closed = False

    @property
    def busy(self) -> int:
        return self._now.busy if self._now is not None else 0

    def begin(self) -> None:
        """Start the zygote; whoever asks for it hears why there is none."""
        with contextlib.suppress(OSError, ZygoteError):
            self.zygote()

    def zygote(self) -> Zygote:
        with self._lock:
            if self._closed:
                raise ZygoteError("the sandbox is closed")
            if self._now is not None and not (self._now.alive and self._now.forks < MOST_CHILDREN):
                self._retire()
            for each in [each for each in self._retired if not each.busy]:
                self._retired.remove(each)
                each.close()
            if self._now is None:
                self._now = self._make()
            return self._now

    def renew(self) -> None:
        """Have another zygote made for whoever asks next."""
        with self._lock:
            self._retire()

    def _retire(self) -> None:
        if self._now is not None:
            self._retired.append(self._now)
            self._now = None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._retire()
            while self._retired:
                self._retired.pop().close()
