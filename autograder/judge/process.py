"""One worker process, seen from outside: started, asked, watched, and killed with all its children."""

import contextlib
import io
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

try:
    from fcntl import ioctl
    from termios import FIONREAD
except ImportError:  # Windows, where a pipe cannot be asked what is in it
    ioctl = None  # type: ignore[assignment]

from autograder.judge.child import Child
from autograder.protocol import Limits, ProtocolError, TooLarge, Value, read_frame, write_frame

START_SECONDS = 180.0
FORK_SECONDS = 30.0
GRACE_SECONDS = 1.0
CATCH_UP_SECONDS = 0.5
KEPT_LOG = 64 << 10
READ_BYTES = 1 << 18

ANSWER_LIMITS = Limits(text=1 << 20, blob=16 << 20)
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
    """A worker, watched: its answers are parsed as hostile, its log is capped, and its end is told as an event."""

    def __init__(self, child: Child, *, output_kib: int) -> None:
        self._child = child
        self._output_limit = output_kib << 10
        self._events: queue.SimpleQueue[list[Value | End]] = queue.SimpleQueue()
        self._heard: deque[Value | End] = deque()
        self._log = bytearray()
        self._flooded = False
        self._received = 0
        self._start_seconds = START_SECONDS if child.fresh else FORK_SECONDS
        self.sent = 0
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._read_answers, self._read_log)
        ]
        for thread in self._threads:
            thread.start()
        self.ready = False

    @property
    def log(self) -> str:
        """The first part of what the worker printed, with what is still in the pipe."""
        until = time.monotonic() + CATCH_UP_SECONDS
        while self._unread() and time.monotonic() < until:
            time.sleep(0.001)
        return self._log.decode("utf-8", "replace")

    def send(self, job: Value) -> None:
        """Hand over a job. It is written beside everything else, so that a worker that does not read harms nobody."""
        frame = write_frame(job)
        self._received = 0
        self.sent += 1

        def write() -> None:
            rest = memoryview(frame)
            with contextlib.suppress(OSError, ValueError):
                while rest:
                    rest = rest[self._child.jobs.write(rest) :]

        threading.Thread(target=write, daemon=True).start()

    def next_event(self, seconds: float) -> Mapping[str, Any] | End:
        """Return the next answer, or why there will be none; after an end the worker is dead."""
        limit = seconds if self.ready else self._start_seconds
        try:
            event = self._next(limit)
        except queue.Empty:
            return self._fell_silent()
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
        self.kill()
        self._child.wait()
        for thread in self._threads:
            thread.join(GRACE_SECONDS)  # its pipe is closed, unless a process that left the group holds it open
        self._child.close()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self, seconds: float) -> Value | End:
        """Return the next answer; raises `queue.Empty` when there was none for so long."""
        if not self._heard:
            self._heard.extend(self._events.get(timeout=seconds))
        return self._heard.popleft()

    def _fell_silent(self) -> Mapping[str, Any] | End:
        """Ask where it hangs, then kill it."""
        if not self.ready:
            return self._ended(End("start", detail=f"the worker was not ready after {self._start_seconds:.0f} s"))
        if hasattr(signal, "SIGXCPU"):
            self._child.signal(signal.SIGXCPU)
            with contextlib.suppress(queue.Empty):
                event = self._next(GRACE_SECONDS)
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

    def _read_answers(self) -> None:
        """Hand answers over, all together that have come together."""
        stream, end = self._child.answers, End("exit")
        unread, together = io.BytesIO(), list[Value | End]()

        def read(size: int) -> bytes:
            nonlocal unread, together
            if part := unread.read(size):
                return part
            if together:  # part of an answer is none: who waits for one is not kept waiting by its bytes
                self._events.put(together)
                together = []
            data = os.read(stream.fileno(), READ_BYTES)
            self._received += len(data)
            if self._received > MOST_RECEIVED:
                raise ProtocolError(f"more than {MOST_RECEIVED >> 20} MiB of answers")
            unread = io.BytesIO(data)
            return unread.read(size)

        try:
            while (event := read_frame(read, ANSWER_LIMITS)) is not None:
                together.append(event)
        except ProtocolError as error:
            end = End("large" if isinstance(error, TooLarge) else "nonsense", detail=str(error))
        except (OSError, ValueError):
            pass
        self._events.put([*together, end])

    def _unread(self) -> bool:
        """Whether something printed has not been taken out of the pipe: on a busy machine its reader may be late."""
        if ioctl is None:
            return False
        time.sleep(0)  # what was taken out is noted by another thread
        with contextlib.suppress(OSError, ValueError):
            return any(ioctl(self._child.log.fileno(), FIONREAD, bytes(4)))
        return False

    def _read_log(self) -> None:
        stream = self._child.log
        total = 0
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(stream.fileno(), 1 << 16):
                self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])
                total += len(part)
                if total > self._output_limit:
                    self._flooded = True
                    self.kill()
