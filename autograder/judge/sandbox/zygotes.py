"""Zygotes, seen from the judge: each is started, warmed, watched, asked for children, and replaced in time."""

import contextlib
import errno
import os
import queue
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from typing import IO, Any

from autograder.judge.attempt import GraderProblem
from autograder.judge.sandbox.channels import Channel, Passing, Signal, Streaming
from autograder.judge.sandbox.launch import Launch
from autograder.protocol import Value, write_frame

START_SECONDS = 180.0
FORK_SECONDS = 30.0
MOST_CHILDREN = 1000
"""A zygote is replaced after so many: what the kernel or an allocator may gather does not gather for ever."""

KEPT_LOG = 8 << 10
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ


class ZygoteError(GraderProblem):
    """A zygote could not be started, or gave no child; the message says what it said."""


class Forked:
    """A confined child of a zygote."""

    fresh = False
    lost = False

    def __init__(self, number: int, send: Signal, pipes: tuple[int, int, int], cpu_seconds: int) -> None:
        self.number = number
        self._send = send
        self.jobs: IO[bytes] = FileIO(pipes[0], "w")
        self.answers: IO[bytes] = FileIO(pipes[1], "r")
        self.log: IO[bytes] = FileIO(pipes[2], "r")
        self._cpu_seconds = cpu_seconds
        self._ended = threading.Event()
        self._status: int | None = None

    def signal(self, number: int) -> None:
        if not self._ended.is_set():
            self._send(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def wait(self, seconds: float | None = None) -> int | None:
        return self._status if self._ended.wait(seconds) else None

    def close(self) -> None:
        self.kill()
        for stream in (self.jobs, self.answers, self.log):
            with contextlib.suppress(OSError, ValueError):
                stream.close()

    def end(self, status: int, cpu_seconds: float = 0.0) -> None:
        """Hear from the zygote that the child is no more. The kernel kills what has used up all its CPU time."""
        if status == -signal.SIGKILL and cpu_seconds > self._cpu_seconds - 1:
            status = -signal.SIGXCPU
        self._status = status
        self._ended.set()
        self._send(0)


class Zygote:
    """One zygote. `fork` may be called from several threads."""

    def __init__(self, launch: Launch | Sequence[str], warm_up: Value) -> None:
        self._asking = threading.Lock()
        self._replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self._children: dict[int, Forked] = {}
        self._early: dict[int, dict[str, Any]] = {}
        self._known = threading.Lock()
        self._log = bytearray()
        self.forks = 0
        self.usable = True
        try:
            self._channel: Channel = Passing(launch) if isinstance(launch, Launch) else Streaming(launch)
        except OSError as error:
            raise ZygoteError(f"the sandbox could not be started: {error}") from error
        threading.Thread(target=self._read_log, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.facts = self._reply(START_SECONDS)
            self._warm(warm_up)
        except ZygoteError:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self.usable and self._channel.process.poll() is None

    @property
    def busy(self) -> int:
        """How many children live."""
        return len(self._children)

    def fork(self, layers: Mapping[str, Any]) -> Forked:
        """Return a new child, confined as asked; raises `ZygoteError`, and then the zygote is not to be used again."""
        ends = [_pipe(), _pipe(), os.pipe()]
        theirs = [ends[0][0], ends[1][1], ends[2][1]]
        ours = (ends[0][1], ends[1][0], ends[2][0])
        try:
            with self._asking:
                self.forks += 1
                self._channel.fork({"do": "fork", **layers}, theirs)
                reply = self._reply(FORK_SECONDS)
        except (OSError, ZygoteError) as error:
            self.usable = False
            for each in ours:
                os.close(each)
            raise ZygoteError(str(error)) from error
        finally:
            for each in theirs:
                os.close(each)
        child = Forked(reply["child"], reply["signal"], ours, int(layers["cpu_seconds"]))
        with self._known:
            self._children[child.number] = child
            if early := self._early.pop(child.number, None):
                self._end(early)
        return child

    def close(self) -> None:
        """Kill the zygote, and with it every child."""
        self.usable = False
        with contextlib.suppress(OSError):
            self._channel.process.kill()
        self._channel.process.wait()
        self._channel.close()

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
            raise ZygoteError(f"the zygote did not answer in {seconds:.0f} s") from None
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

    def _read_log(self) -> None:
        stream = self._channel.process.stderr
        with contextlib.suppress(OSError, ValueError):
            while stream is not None and (part := os.read(stream.fileno(), 1 << 12)):
                self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])


class Zygotes:
    """As many zygotes as there are jobs, each started when it is needed; a child comes of the one with the fewest."""

    def __init__(self, launch: Launch | Sequence[str], warm_up: Value, count: int) -> None:
        self._slots = [_Slot(launch, warm_up) for _ in range(count)]
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to start all of them, beside everything else."""
        for slot in self._slots:
            threading.Thread(target=slot.begin, daemon=True).start()

    def fork(self, layers: Mapping[str, Any]) -> Forked:
        """Return a new child. A zygote that fails is replaced once; raises `ZygoteError`."""
        with self._slot() as slot:
            try:
                return slot.zygote().fork(layers)
            except ZygoteError:
                return slot.zygote().fork(layers)

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
        for slot in self._slots:
            slot.close()


class _Slot:
    """A place for a zygote. One that failed, or has had its time, gives way to another, and lives until it is idle."""

    def __init__(self, launch: Launch | Sequence[str], warm_up: Value) -> None:
        self.launch = launch
        self.warm_up = warm_up
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
        with contextlib.suppress(ZygoteError):
            self.zygote()

    def zygote(self) -> Zygote:
        with self._lock:
            if self._closed:
                raise ZygoteError("the sandbox is closed")
            if self._now is not None and not (self._now.alive and self._now.forks < MOST_CHILDREN):
                self._retired.append(self._now)
                self._now = None
            for each in [each for each in self._retired if not each.busy]:
                self._retired.remove(each)
                each.close()
            if self._now is None:
                self._now = Zygote(self.launch, self.warm_up)
            return self._now

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for each in (self._now, *self._retired):
                if each is not None:
                    each.close()
            self._now = None
            self._retired.clear()


def _pipe() -> tuple[int, int]:
    """Return a pipe that takes a large answer at once, where the system allows it."""
    import fcntl

    ends = os.pipe()
    try:
        fcntl.fcntl(ends[1], _SET_PIPE_SIZE, _PIPE_BYTES)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EINVAL, errno.EBUSY):
            raise
    return ends
