"""Watch one worker process from outside: send it jobs, read its answers and its log, and kill it with its children."""

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
from autograder.runner.worker_handle import WorkerHandle

START_SECONDS = 180.0
"""How long a new worker may take to load its libraries, on a busy machine with a cold disk cache."""

FORK_SECONDS = 30.0
GRACE_SECONDS = 1.0
"""How long a worker may take to report where it is stuck, or to end after it closed its answers."""

KEPT_LOG = 64 << 10
READ_BYTES = 1 << 17
"""Small enough that Python does not return the memory to the system after every read (grading/memory.py)."""

PIPES_CAN_BE_WATCHED = os.name == "posix"
"""Whether the system can wait for data on several pipes at once; Windows can only for sockets."""

ANSWER_LIMITS = Limits(text=1 << 20, blob=16 << 20, nodes=TRACE_PARTS)
MOST_RECEIVED = 64 << 20
"""The most bytes of a worker's answers to one job."""

EndKind = Literal["exit", "closed", "timeout", "log", "large", "malformed", "start", "lost"]


@dataclass(frozen=True)
class End:
    """Why a worker ended. `status` is its exit status, negative for a signal, if it ended by itself."""

    kind: EndKind
    status: int | None = None
    detail: str = ""


class WorkerProcess:
    """A watched worker: its answers are parsed as hostile data, its log is limited, and its end is an event.

    Its output is read by the thread that waits for it, and by no other. `loaded` are the exercises whose code it has
    run; `timed_out` is set when the judge waited for it in vain.
    """

    loaded: frozenset[str] = frozenset()
    timed_out = False

    def __init__(self, child: WorkerHandle, *, output_kib: int) -> None:
        self._child = child
        self._output_limit = output_kib << 10
        self._events: deque[Value | End] = deque()
        self._frames = Frames(ANSWER_LIMITS)
        self._received = 0
        self._log = bytearray()
        self._kept_log = KEPT_LOG
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
        """Whether it had to load libraries before it was ready."""
        return self._child.fresh

    def take_log(self) -> bytes:
        """Return what the worker printed since the last call, as far as it is kept, also what is still in the pipe."""
        while self._watched.get_map() and any(key.data.func == self._take_log for key in self._read_available(0)):
            pass
        taken = bytes(self._log)
        self._log.clear()
        return taken

    @property
    def _log_overflowed(self) -> bool:
        return self._printed > self._output_limit

    def send(self, job: Value, *, keeps_log: bool = False) -> None:
        """Send a job. A thread writes what the pipe does not take, so a worker that does not read delays nobody.

        With `keeps_log` all that the worker prints is kept, up to the limit on its output.
        """
        self._kept_log = self._output_limit if keeps_log else KEPT_LOG
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
        """Return the next answer, or the reason why there is none; the worker is dead after an `End`."""
        limit = seconds if self.ready else self._start_seconds
        try:
            event = self._next(limit)
        except TimeoutError:
            return self._time_out(seconds)
        if isinstance(event, End):
            return self._end(event)
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            return self._end(End("malformed", detail="an answer that is not an event"))
        if event["event"] == "ready":
            self.ready = True
        return event

    def kill(self) -> None:
        """Kill the worker and every process it started; `next_event`, in any thread, then returns an `End`."""
        self._child.kill()

    def close(self) -> None:
        """Kill the worker and every process it started, and remove its folder."""
        self._watched.close()
        self._child.close()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self, seconds: float) -> Value | End:
        """Return the next answer; raises `TimeoutError` if no complete one arrives in time."""
        until = time.monotonic() + seconds
        while not self._events:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._read_available(left)
        return self._events.popleft()

    def _time_out(self, seconds: float) -> Mapping[str, Any] | End:
        """Ask the worker, after `seconds` without an answer, where it is stuck; kill it if it does not say."""
        if not self.ready:
            return self._end(End("start", detail=f"the worker was not ready after {self._start_seconds:.0f} s"))
        self.timed_out = True
        if hasattr(signal, "SIGXCPU"):  # the worker handles it as it does the end of its CPU time
            self._child.signal(signal.SIGXCPU)
            with contextlib.suppress(TimeoutError):
                event = self._next(min(GRACE_SECONDS, seconds / 3))
                if isinstance(event, dict) and event.get("event") == "stuck":
                    return event
        return self._end(End("timeout"))

    def _end(self, end: End) -> End:
        """Kill the worker, and return why it ended, with its exit status if it had exited by itself."""
        if end.kind == "exit":
            end = self._exited()
        self.kill()
        return end

    def _exited(self) -> End:
        """Return how the worker exited. One that only closed its answers may still run, and is not waited for."""
        status = self._child.wait(GRACE_SECONDS)
        if status is None:
            return End("closed" if self.ready else "start")
        if self._child.lost:
            return End("lost", status)
        return End("log") if self._log_overflowed else End("exit" if self.ready else "start", status)

    def _read_available(self, seconds: float) -> list[selectors.SelectorKey]:
        """Read the output that is there, or comes within `seconds`; return the streams it came from."""
        keys = [key for key, _ in self._watched.select(seconds)]
        for key in keys:
            if not key.data():
                self._watched.unregister(key.fileobj)
        return keys

    def _take_answers(self, read: Callable[[], bytes]) -> bool:
        """Decode the answers that arrived; return whether there may be more."""
        end = End("exit")
        try:
            data = read()
            self._received += len(data)
            if self._received > MOST_RECEIVED:
                raise ProtocolError(f"more than {MOST_RECEIVED >> 20} MiB of answers")
            self._events.extend(self._frames.add(data))
            if data:
                return True
            self._frames.end()
        except ProtocolError as error:
            end = End("large" if isinstance(error, TooLarge) else "malformed", detail=str(error))
        except (OSError, ValueError):
            pass
        self._events.append(end)
        return False

    def _take_log(self, read: Callable[[], bytes]) -> bool:
        """Keep the first part of the log that arrived, kill a worker that prints too much; return if more may come."""
        part = b""
        with contextlib.suppress(OSError, ValueError):
            part = read()
        self._log.extend(part[: max(0, self._kept_log - len(self._log))])
        self._printed += len(part)
        if self._log_overflowed:
            self.kill()
        return bool(part)


def _source(stream: IO[bytes]) -> tuple[int | socket.socket, Callable[[], bytes]]:
    """Return an object to watch for a pipe, and a function to read from it: on Windows a thread copies to a socket."""
    if PIPES_CAN_BE_WATCHED:
        return stream.fileno(), partial(os.read, stream.fileno(), READ_BYTES)
    ours, theirs = socket.socketpair()

    def carry() -> None:
        with theirs, contextlib.suppress(OSError, ValueError):
            while part := stream.read(READ_BYTES):
                theirs.sendall(part)

    threading.Thread(target=carry, daemon=True).start()
    return ours, partial(ours.recv, READ_BYTES)
