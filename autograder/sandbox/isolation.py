"""Find the isolation level of this machine: it is what canaries have proved, not what was requested."""

import contextlib
import itertools
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from autograder import ending
from autograder.protocol import SCRATCH, SCRATCH_MIB, FrameLimits, ProtocolError, Value, read_frame, write_frame
from autograder.runner import GraderProblem, SpawnedWorker, WorkerHandle

from .channels import (
    HIDDEN,
    Channel,
    ForkedProcess,
    ForkedWorker,
    Launch,
    SocketChannel,
    StreamChannel,
    bubblewrap_problem,
    pair,
    pipes,
)

# Zygotes, as the judge sees them: start, warm up and watch them, fork workers from them, and replace them in time.
#
# A zygote is a process that has libraries loaded and forks worker processes (see sandbox/confined/zygote.py).

START_SECONDS = 180.0
FORK_SECONDS = 30.0
KEPT_LOG = 8 << 10
Process = TypeVar("Process", bound=ForkedProcess)


class ZygoteError(GraderProblem):
    """A zygote could not be started, or could not fork; the message contains its output."""


class Zygote:
    """One zygote. `fork` may be called from several threads."""

    def __init__(self, channel: Channel, log: bytearray | None = None) -> None:
        """Wait for a zygote that is starting; raises `ZygoteError`. `log` is that of the zygote it was split off."""
        self._channel = channel
        self._asking = threading.Lock()
        self._replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self._children: dict[int, ForkedProcess] = {}
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
        """Start a zygote, and warm it up with a job. Raises `ZygoteError`, and OSError if the job cannot be written."""
        try:
            zygote = cls(SocketChannel.start(launch) if isinstance(launch, Launch) else StreamChannel(launch))
        except OSError as error:
            raise ZygoteError(f"the sandbox could not be started: {error}") from error
        try:
            zygote._warm(warm_up)
        except (OSError, ZygoteError):
            zygote.close()
            raise
        return zygote

    def split(self) -> "Zygote":
        """Return another zygote, as warm as this one, which ends when this one does. Raises `ZygoteError`."""
        assert isinstance(self._channel, SocketChannel)
        ours, theirs = pair()
        try:
            with theirs:
                reply = self._ask(partial(self._channel.split, theirs))
        except ZygoteError:
            ours.close()
            raise
        return Zygote(SocketChannel(ours, self._register(ForkedProcess(reply["child"], reply["signal"]))), self._log)

    def enlarge(self) -> None:
        """Move its memory into large pages, for the zygotes that are split off it later. Raises `ZygoteError`."""
        assert isinstance(self._channel, SocketChannel)
        self._ask(self._channel.enlarge)

    @property
    def alive(self) -> bool:
        return self.usable and self._channel.process.poll() is None

    @property
    def busy(self) -> int:
        """The number of running children."""
        return len(self._children)

    def fork(self, layers: Mapping[str, Any]) -> ForkedWorker:
        """Return a new worker with these layers. After a `ZygoteError`, do not use the zygote again."""
        ours, theirs = pipes()
        try:
            reply = self._ask(partial(self._channel.fork, {"do": "fork", **layers}, theirs))
        except ZygoteError:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return self._register(ForkedWorker(reply["child"], reply["signal"], ours, int(layers["cpu_seconds"])))

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
        """Return the zygote's reply to a request. After a `ZygoteError`, do not use the zygote again."""
        try:
            with self._asking:
                self.forks += 1
                send()
                return self._reply(FORK_SECONDS)
        except (OSError, ZygoteError) as error:
            self.usable = False
            raise ZygoteError(str(error)) from error

    def _register(self, child: Process) -> Process:
        """Keep a process until the zygote reports its end, which it may already have done."""
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
            log = self._log.decode("utf-8", "replace").strip()[-500:]
            raise ZygoteError(" ".join(filter(None, [reply["why"], f"({log})" if log else ""])))
        return reply

    def _listen(self) -> None:
        """Receive events until the zygote ends; runs in a thread of its own."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            while received := self._channel.receive():
                event, send = received
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
        """Keep the start of the zygote's log and close it at its end; runs in a thread of its own."""
        with stream, contextlib.suppress(OSError):
            while part := os.read(stream.fileno(), 1 << 12):
                self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])


# A pool of zygotes: as many as there are jobs, each started, replaced and killed when it is time.

MOST_CHILDREN = 1000
"""Children after which a zygote is replaced, so that leaks in the kernel or the allocator stay small."""

LONG_RUN = 16
"""Expected children from which on large pages are worth the time to make them."""


class ZygotePool:
    """As many zygotes as there are jobs, each made when needed. The one with the fewest children forks the next.

    On this machine they are split off a first zygote, which loads libraries for all. Behind a relay each starts by
    itself. In a long run the first zygote gets large pages while grading goes on, and the others are split off it anew.
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
        """Start all of them, in threads of their own."""
        for slot in self._slots:
            threading.Thread(target=slot.start, daemon=True).start()

    def fork(self, layers: Mapping[str, Any]) -> ForkedWorker:
        """Return a new worker. A zygote that fails is replaced once; raises `ZygoteError`."""
        if next(self._forks) == LONG_RUN:
            self.expect(LONG_RUN)
        with self._slot() as slot:
            try:
                return slot.zygote().fork(layers)
            except ZygoteError:
                return slot.zygote().fork(layers)

    def expect(self, children: int) -> None:
        """Announce the expected number of forks; from `LONG_RUN` on, large pages are made."""
        with self._lock:
            enlarge = children >= LONG_RUN and not self._large
            self._large = self._large or enlarge
        if enlarge:
            threading.Thread(target=self._enlarge, daemon=True).start()

    def _enlarge(self) -> None:
        with contextlib.suppress(OSError, ZygoteError):  # small pages work as well
            for slot in self._slots:
                slot.zygote()
            self._first.zygote().enlarge()
            for slot in self._slots:
                slot.renew()

    def some(self) -> Zygote:
        """Return any running zygote; raises `ZygoteError`."""
        with self._slot() as slot:
            return slot.zygote()

    @contextlib.contextmanager
    def _slot(self) -> Iterator["_Slot"]:
        """Provide the least busy slot, and count the request as one of its own within the block."""
        with self._lock:
            slot = min(self._slots, key=lambda slot: slot.requests + slot.busy)
            slot.requests += 1
        try:
            yield slot
        finally:
            with self._lock:
                slot.requests -= 1

    def close(self) -> None:
        """Kill them all."""
        for slot in (*self._slots, self._first):
            slot.close()


class _Slot:
    """Holds a zygote, and replaces one that failed or is old. The old one is killed when its children have ended."""

    def __init__(self, make: Callable[[], Zygote]) -> None:
        self._make = make
        self.requests = 0
        self._current: Zygote | None = None
        self._retired: list[Zygote] = []
        self._lock = threading.Lock()
        self._closed = False

    @property
    def busy(self) -> int:
        return self._current.busy if self._current is not None else 0

    def start(self) -> None:
        """Start the zygote. If that fails, `zygote` tries again and raises the error."""
        with contextlib.suppress(OSError, ZygoteError):
            self.zygote()

    def zygote(self) -> Zygote:
        with self._lock:
            if self._closed:
                raise ZygoteError("the sandbox is closed")
            if self._current is not None and not (self._current.alive and self._current.forks < MOST_CHILDREN):
                self._retire()
            for idle in [zygote for zygote in self._retired if not zygote.busy]:
                self._retired.remove(idle)
                idle.close()
            if self._current is None:
                self._current = self._make()
            return self._current

    def renew(self) -> None:
        """Retire the zygote, so that the next request makes another."""
        with self._lock:
            self._retire()

    def _retire(self) -> None:
        if self._current is not None:
            self._retired.append(self._current)
            self._current = None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._retire()
            while self._retired:
                self._retired.pop().close()


LAYERS: Mapping[str, tuple[str, ...]] = {
    "L3": ("session", "descriptors", "namespaces", "limits", "landlock", "privileges", "seccomp"),
    "L2": ("session", "descriptors", "limits", "landlock", "privileges", "seccomp"),
}
"""The layers that a worker applies at each level. L1 is a container without these, L0 a plain process."""

CPU_SECONDS = 120
"""The most CPU time one worker may use for all its checks."""

CANARY_SECONDS = 30.0
"""How long the canaries may take together, far more than they need."""


class IsolationError(Exception):
    """This machine cannot confine submissions; the message says why and what to do."""


@dataclass(frozen=True)
class Isolation:
    """An isolation level, its description for people (`sentence`), and the zygotes that start workers at it.

    Without zygotes, a worker loads the `libraries` itself.
    """

    level: str
    sentence: str
    zygotes: ZygotePool | None = None
    libraries: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The isolation as reports name it: `sandbox` or `process`."""
        return "sandbox" if self.confined else "process"

    @property
    def confined(self) -> bool:
        """Whether untrusted submissions may run."""
        return self.zygotes is not None

    def start(self) -> WorkerHandle:
        """Start a worker; raises `ZygoteError`."""
        if self.zygotes is None:
            return SpawnedWorker(self.libraries)
        return self.zygotes.fork(request(LAYERS[self.level]))

    def expect(self, workers: int) -> None:
        """Announce the expected number of workers: for many, the zygotes prepare to fork faster."""
        if self.zygotes is not None:
            self.zygotes.expect(workers)

    def close(self) -> None:
        """Kill every zygote."""
        if self.zygotes is not None:
            self.zygotes.close()

    def __enter__(self) -> "Isolation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def process_isolation(libraries: tuple[str, ...] = ()) -> Isolation:
    """Return the isolation of every machine: a fresh process for each submission, with the rights of its user."""
    level = "L1" if Path("/.dockerenv").exists() or "container" in os.environ else "L0"
    return Isolation(level, f"{level}: a process for each submission, which sees what you see", libraries=libraries)


def open_isolation(
    warm_up: Value, jobs: int, command: Sequence[str] | None = None, meanwhile: Callable[[], None] = lambda: None
) -> Isolation:
    """Return the highest isolation level that canaries prove here. Raises `IsolationError` if it is below L2.

    `command` starts a relay in another kind of sandbox, such as a container; without it, bubblewrap is the outer
    sandbox. `meanwhile` is called while the zygotes load the libraries of the job `warm_up`.
    """
    problems: list[str] = []
    for launch, sentence, levels in _ways(command, tuple(warm_up.get("libraries", ())), problems):
        zygotes = ZygotePool(launch, warm_up, jobs)
        zygotes.start()
        meanwhile()
        for level in levels:
            try:
                escapes = probe(zygotes, level)
            except ZygoteError as error:
                escapes = [str(error)]
            if not escapes:
                return Isolation(level, f"{level}: {sentence}{_INNER[level]}", zygotes)
            problems.append(f"{level} does not hold here ({'; '.join(escapes)})")
        zygotes.close()
    raise IsolationError("; ".join(problems))


_INNER = {
    "L3": "namespaces of its own for each submission, Landlock, seccomp and limits",
    "L2": "Landlock, seccomp and limits",
}


def _ways(
    command: Sequence[str] | None, libraries: tuple[str, ...], problems: list[str]
) -> Iterator[tuple[Launch | Sequence[str], str, tuple[str, ...]]]:
    """Yield the ways to start a zygote, each with its description and the levels to try; add why others fail."""
    if command:
        yield command, f"`{command[0]}`, ", ("L3", "L2")
        return
    if not sys.platform.startswith("linux"):
        problems.append("only Linux confines submissions: on Windows grade in WSL, on macOS in a container")
        return
    if problem := bubblewrap_problem():
        problems.append(problem)
    else:
        yield Launch(outer=True, libraries=libraries), "bubblewrap, ", ("L3", "L2")
    yield Launch(outer=False, libraries=libraries), "", ("L2",)


def request(layers: tuple[str, ...]) -> dict[str, Any]:
    """Return the request to a zygote for a worker with these layers."""
    return {"layers": list(layers), "cpu_seconds": CPU_SECONDS}


def probe(zygotes: ZygotePool, level: str, layers: tuple[str, ...] | None = None) -> list[str]:
    """Let canaries try what a worker must not be able to do at a level; return a sentence for each that succeeded.

    `layers` are those the worker applies, if not all of the level's. Raises `ZygoteError` if no worker can be forked.
    """
    zygote = zygotes.some()
    private = "namespaces" in LAYERS[level]
    with _bait() as bait:
        bait |= {"zygote": zygote.facts["pid"], "private": private}
        outcomes = run_canaries(zygote, LAYERS[level] if layers is None else layers, bait)
    return [f"{name}: {outcome}" for name, outcome in outcomes.items() if outcome]


def run_canaries(zygote: Zygote, layers: tuple[str, ...], bait: Mapping[str, Any]) -> dict[str, str]:
    """Return the outcome of each canary, or that there was no answer; raises `ZygoteError`."""
    child = zygote.fork({**request(layers), "canaries": dict(bait)})
    try:
        event = _answer(child)
        outcomes = event.get("outcomes") if isinstance(event, dict) else None
        if not isinstance(outcomes, dict) or not outcomes:
            log = os.read(child.log.fileno(), 1 << 12).decode("utf-8", "replace").strip()
            return {"worker": f"no answer ({log or 'and no output'})"}
        return {str(name): str(outcome) for name, outcome in outcomes.items()}
    finally:
        child.close()
        child.wait(CANARY_SECONDS)
        if not zygote.alive:
            raise ZygoteError("the zygote did not survive its canaries")


def _answer(child: ForkedWorker) -> Value:
    timer = threading.Timer(CANARY_SECONDS, child.kill)
    timer.start()
    try:
        return read_frame(lambda size: os.read(child.answers.fileno(), size), FrameLimits())
    except (ProtocolError, OSError):
        return None
    finally:
        timer.cancel()


@contextmanager
def _bait() -> Iterator[dict[str, Any]]:
    """Plant what canaries look for: a readable file of the judge, and a server on this machine."""
    with (
        ending.temporary(lambda: Path(tempfile.mkdtemp(prefix="course-"))) as folder,
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener,
    ):
        secret = folder / "secret"
        secret.write_bytes(b"the judge's own")
        folder.chmod(0o755)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield {
            "secret": str(secret),
            "folder": str(folder),
            "hidden": HIDDEN,
            "scratch": SCRATCH,
            "scratch_mib": SCRATCH_MIB,
            "port": listener.getsockname()[1],
            "cpu_seconds": CPU_SECONDS,
        }
        listener.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            listener.accept()[0].close()
            raise ZygoteError("a canary reached a server on this machine")
