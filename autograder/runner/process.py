"""Watch one worker process from outside: send it jobs, read its answers and its log, and kill it with its children."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from autograder import ending, protocol

# Worker processes as the judge sees them: pipes, signals, and an exit status. Each new one loads its libraries.

PROGRAM = Path(__file__).parents[1] / "worker" / "__main__.py"


class WorkerHandle(Protocol):
    """A worker process: it reads jobs, writes answers, and logs what the student's code prints."""

    jobs: IO[bytes]
    answers: IO[bytes]
    log: IO[bytes]
    fresh: bool
    """Whether it has to load libraries before it is ready."""
    lost: bool
    """Whether it ended because the process it was forked from ended, which is no program's fault."""

    def signal(self, number: int) -> None:
        """Send a signal, if it still runs."""

    def kill(self) -> None:
        """Kill it, and every process it started."""

    def wait(self, seconds: float | None = None) -> int | None:
        """Return its exit status, negative for a signal; None if it still runs after `seconds`."""

    def close(self) -> None:
        """Kill it, and remove its files."""


class SpawnedWorker:
    """A worker process started here: in its own process group, without secrets, in an empty working folder.

    It loads the `libraries` at once, and those of a job that it has not loaded yet.
    """

    fresh = True
    lost = False

    def __init__(self, libraries: Iterable[str] = ()) -> None:
        self._arguments = protocol.arguments_of(libraries, package_folders())
        self._folder = ending.made(lambda: Path(tempfile.mkdtemp(prefix="course-")))
        try:
            ending.started(self._started)
        except BaseException:
            ending.remove(self._folder)
            raise
        jobs, answers, log = self._process.stdin, self._process.stdout, self._process.stderr
        assert jobs is not None
        assert answers is not None
        assert log is not None
        self.jobs, self.answers, self.log = jobs, answers, log

    def _started(self) -> "SpawnedWorker":
        self._process = subprocess.Popen(
            [sys.executable, *protocol.PYTHON_OPTIONS, str(PROGRAM), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # a buffered stream cannot be closed while another thread reads from it
            cwd=self._folder,
            env={**environment(str(self._folder)), **_compiling()},
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        return self

    def signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            self._process.send_signal(number)

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def wait(self, seconds: float | None = None) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        self.kill()
        self._process.wait()
        ending.forget(self)
        for stream in (self.jobs, self.answers, self.log):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        ending.remove(self._folder)


def package_folders() -> list[str]:
    """Return the folders of installed packages, without links, for a worker that runs without `site`."""
    return [os.path.realpath(folder) for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")]


def _compiling() -> dict[str, str]:
    """Return what lets a worker keep its own modules compiled, as this process keeps its own. Nobody else loads them.

    Without it a kit that pip installed as editable compiles them at every start: a quarter of a worker's time.
    """
    return {} if sys.dont_write_bytecode else {"PYTHONDONTWRITEBYTECODE": ""}


def environment(folder: str) -> dict[str, str]:
    """Return the environment of a worker on this machine, with the variables that Windows or torch's libraries need."""
    needed = {name: os.environ[name] for name in ("SYSTEMROOT", "PATHEXT", "LD_LIBRARY_PATH") if name in os.environ}
    return {**protocol.worker_environment(folder), **needed}


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

ANSWER_LIMITS = protocol.FrameLimits(text=1 << 20, blob=16 << 20, nodes=protocol.TRACE_PARTS)
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
        self._events: deque[protocol.Value | End] = deque()
        self._frames = protocol.Frames(ANSWER_LIMITS)
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

    def send(self, job: protocol.Value, *, keeps_log: bool = False) -> None:
        """Send a job. A thread writes what the pipe does not take, so a worker that does not read delays nobody.

        With `keeps_log` all that the worker prints is kept, up to the limit on its output.
        """
        self._kept_log = self._output_limit if keeps_log else KEPT_LOG
        self._received = 0
        self.sent += 1
        rest = memoryview(protocol.write_frame(job))
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

    def _next(self, seconds: float) -> protocol.Value | End:
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
                raise protocol.ProtocolError(f"more than {MOST_RECEIVED >> 20} MiB of answers")
            self._events.extend(self._frames.add(data))
            if data:
                return True
            self._frames.end()
        except protocol.ProtocolError as error:
            end = End("large" if isinstance(error, protocol.TooLarge) else "malformed", detail=str(error))
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
