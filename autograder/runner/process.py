"""One worker process, seen from outside: started, asked, watched, and killed with all its children."""

import contextlib
import os
import selectors
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Literal

from autograder.protocol import Frames, Limits, ProtocolError, TooLarge, Value, write_frame
from autograder.protocol.bounds import TRACE_PARTS
from autograder.runner.child import Child

START_SECONDS = 180.0
FORK_SECONDS = 30.0
GRACE_SECONDS = 1.0
KEPT_LOG = 64 << 10
READ_BYTES = 1 << 17
"""Less than a block that goes back to the system each time (grading/memory.py)."""

PIPES_CAN_BE_WATCHED = os.name == "posix"
"""Whether the system tells which pipe there is something in; Windows does so of sockets only."""

ANSWER_LIMITS = Limits(text=1 << 20, blob=16 << 20, nodes=TRACE_PARTS)
MOST_RECEIVED = 64 << 20
"""The most bytes a worker may answer to one job."""

EndKind = Literal["exit", "closed", "silent", "log", "large", "nonsense", "start", "lost"]


@dataclass(frozen=True)
class End:
    """Why a worker is no more. `status` is its exit status, negative for a signal, when it ended by itself."""

    kind: EndKind
    status: int | None = None
    detail: str = ""


class WorkerProcess:
    """A worker, watched: its answers are parsed as hostile, its log is capped, and its end is told as an event.

    What it says is taken in by whoever waits for it: beside that nothing runs. `loaded` are the exercises whose code it
    has run, `fell_silent` says that it was waited for in vain.
    """

    loaded: frozenset[str] = frozenset()
    fell_silent = False

    def __init__(self, child: Child, *, output_kib: int) -> None:
        self._child = child
        self._output_limit = output_kib << 10
        self._heard: deque[Value | End] = deque()
        self._frames = Frames(ANSWER_LIMITS)
        self._received = 0
        self._log = bytearray()
        self._printed = 0
        self._start_seconds = START_SECONDS if child.fresh else FORK_SECONDS
        self.sent = 0
        self.ready = False
        self._watched = selectors.DefaultSelector()
        for stream, take in ((child.answers, self._take_answers), (child.log, self._take_log)):
            source, read = _source(stream)
            self._watched.register(source, selectors.EVENT_READ, partial(take, read))

    @property
    def fresh(self) -> bool:
        """Whether it had to load torch before it was ready."""
        return self._child.fresh

    @property
    def log(self) -> str:
        """The first part of what the worker printed, with what is still in the pipe."""
        while self._watched.get_map() and any(key.data.func == self._take_log for key in self._take_in(0)):
            pass
        return self._log.decode("utf-8", "replace")

    @property
    def _flooded(self) -> bool:
        return self._printed > self._output_limit

    def send(self, job: Value) -> None:
        """Hand over a job. What the pipe does not take is written beside all else: who does not read harms nobody."""
        self._received = 0
        self.sent += 1
        rest = memoryview(write_frame(job))
        with contextlib.suppress(OSError, ValueError):
            if PIPES_CAN_BE_WATCHED:
                pipe = self._child.jobs.fileno()
                os.set_blocking(pipe, False)
                with contextlib.suppress(BlockingIOError):
                    rest = rest[os.write(pipe, rest) :]
                os.set_blocking(pipe, True)
            if rest:
                threading.Thread(target=self._write, args=(rest,), daemon=True).start()

    def _write(self, rest: memoryview) -> None:
        with contextlib.suppress(OSError, ValueError):
            while rest:
                rest = rest[self._child.jobs.write(rest) :]

    def next_event(self, seconds: float) -> Mapping[str, Any] | End:
        """Return the next answer, or why there will be none; after an end the worker is dead."""
        limit = seconds if self.ready else self._start_seconds
        try:
            event = self._next(limit)
        except TimeoutError:
            return self._stopped(seconds)
        if isinstance(event, End):
            return self._ended(event)
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            return self._ended(End("nonsense", detail="an answer that is no event"))
        if event["event"] == "ready":
            self.ready = True
        return event

    def kill(self) -> None:
        """Kill the worker and whatever it started; `next_event`, in whatever thread, then tells of its end."""
        self._child.kill()

    def close(self) -> None:
        """Kill the worker and whatever it started, and take its folder away."""
        self._watched.close()
        self._child.close()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self, seconds: float) -> Value | End:
        """Return the next answer; raises `TimeoutError` when there was no whole one for so long."""
        until = time.monotonic() + seconds
        while not self._heard:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._take_in(left)
        return self._heard.popleft()

    def _stopped(self, seconds: float) -> Mapping[str, Any] | End:
        """Ask where it hangs, then kill it; it was silent for so many seconds."""
        if not self.ready:
            return self._ended(End("start", detail=f"the worker was not ready after {self._start_seconds:.0f} s"))
        self.fell_silent = True
        if hasattr(signal, "SIGXCPU"):
            self._child.signal(signal.SIGXCPU)
            with contextlib.suppress(TimeoutError):
                event = self._next(min(GRACE_SECONDS, seconds / 3))
                if isinstance(event, dict) and event.get("event") == "stuck":
                    return event
        return self._ended(End("silent"))

    def _ended(self, end: End) -> End:
        if end.kind == "exit":
            end = self._exited()
        self.kill()
        return end

    def _exited(self) -> End:
        """Say how the worker ended; one that only closed its answers may live on, and is not waited for."""
        status = self._child.wait(GRACE_SECONDS)
        if status is None:
            return End("closed" if self.ready else "start")
        if self._child.lost:
            return End("lost", status)
        return End("log") if self._flooded else End("exit" if self.ready else "start", status)

    def _take_in(self, seconds: float) -> list[selectors.SelectorKey]:
        """Take in what the worker has said, or says within so many seconds; return where something came from."""
        found = [key for key, _ in self._watched.select(seconds)]
        for key in found:
            if not key.data():
                self._watched.unregister(key.fileobj)
        return found

    def _take_answers(self, read: Callable[[], bytes]) -> bool:
        """Hear what came; return whether there may be more."""
        end = End("exit")
        try:
            data = read()
            self._received += len(data)
            if self._received > MOST_RECEIVED:
                raise ProtocolError(f"more than {MOST_RECEIVED >> 20} MiB of answers")
            self._heard.extend(self._frames.add(data))
            if data:
                return True
            self._frames.end()
        except ProtocolError as error:
            end = End("large" if isinstance(error, TooLarge) else "nonsense", detail=str(error))
        except (OSError, ValueError):
            pass
        self._heard.append(end)
        return False

    def _take_log(self, read: Callable[[], bytes]) -> bool:
        """Keep the first part of what came; return whether there may be more."""
        part = b""
        with contextlib.suppress(OSError, ValueError):
            part = read()
        self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])
        self._printed += len(part)
        if self._flooded:
            self.kill()
        return bool(part)


def _source(stream: IO[bytes]) -> tuple[int | socket.socket, Callable[[], bytes]]:
    """Return what can be watched of a pipe, and what reads from it."""
    if PIPES_CAN_BE_WATCHED:
        return stream.fileno(), partial(os.read, stream.fileno(), READ_BYTES)
    ours, theirs = socket.socketpair()

    def carry() -> None:
        with theirs, contextlib.suppress(OSError, ValueError):
            while part := stream.read(READ_BYTES):
                theirs.sendall(part)

    threading.Thread(target=carry, daemon=True).start()
    return ours, partial(ours.recv, READ_BYTES)
