"""One worker process, seen from outside: started, asked, watched, and killed with all its children."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from autograder.protocol import Limits, ProtocolError, TooLarge, Value, read_frame, write_frame

PROGRAM = Path(__file__).parents[1] / "worker" / "__main__.py"
START_SECONDS = 180.0
GRACE_SECONDS = 1.0
KEPT_LOG = 64 << 10

ANSWER_LIMITS = Limits(text=1 << 20, blob=16 << 20)
MOST_RECEIVED = 64 << 20
"""The most bytes a worker may answer to one job."""

EndKind = Literal["exit", "closed", "silent", "log", "large", "nonsense", "start"]


@dataclass(frozen=True)
class End:
    """Why a worker is no more. `status` is its exit status, negative for a signal, when it ended by itself."""

    kind: EndKind
    status: int | None = None
    detail: str = ""


class WorkerProcess:
    """A worker program in a process group of its own, with no environment and an empty working folder."""

    def __init__(self, *, output_kib: int) -> None:
        self._output_limit = output_kib << 10
        self._folder = tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True)
        self._events: queue.Queue[Value | End] = queue.Queue(maxsize=4)
        self._log = bytearray()
        self._flooded = False
        self._received = 0
        self.jobs = 0
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", "-X", "utf8", str(PROGRAM), *_package_folders()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # a buffered stream cannot be closed while a thread still reads from it
            cwd=self._folder.name,
            env=_environment(self._folder.name),
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._read_answers, self._read_log)
        ]
        for thread in self._threads:
            thread.start()
        self.ready = False

    @property
    def log(self) -> str:
        """The first part of what the worker printed."""
        return self._log.decode("utf-8", "replace")

    def send(self, job: Value) -> None:
        """Hand over a job. It is written beside everything else, so that a worker that does not read harms nobody."""
        frame = write_frame(job)
        self._received = 0
        self.jobs += 1

        def write() -> None:
            rest = memoryview(frame)
            with contextlib.suppress(OSError, ValueError):
                while rest:
                    rest = rest[_stream(self._process.stdin).write(rest) :]

        threading.Thread(target=write, daemon=True).start()

    def next_event(self, seconds: float) -> Mapping[str, Any] | End:
        """Return the next answer, or why there will be none; after an end the worker is dead."""
        limit = seconds if self.ready else START_SECONDS
        try:
            event = self._events.get(timeout=limit)
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
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """Kill the worker and whatever it started, and take its folder away."""
        self.kill()
        self._process.wait()
        for thread in self._threads:
            self._drain(thread)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                _stream(stream).close()
        self._folder.cleanup()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drain(self, thread: threading.Thread) -> None:
        """Let a reader end: its pipe is closed, unless a process that left the group holds it open."""
        until = time.monotonic() + GRACE_SECONDS
        while thread.is_alive() and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):
                self._events.get(timeout=0.01)
            thread.join(0.01)

    def _fell_silent(self) -> Mapping[str, Any] | End:
        """Ask where it hangs, then kill it."""
        if not self.ready:
            return self._ended(End("start", detail=f"the worker was not ready after {START_SECONDS:.0f} s"))
        if hasattr(signal, "SIGXCPU"):
            with contextlib.suppress(OSError):
                self._process.send_signal(signal.SIGXCPU)
            with contextlib.suppress(queue.Empty):
                event = self._events.get(timeout=GRACE_SECONDS)
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
        try:
            status = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return End("closed" if self.ready else "start")
        return End("log") if self._flooded else End("exit" if self.ready else "start", status)

    def _read_answers(self) -> None:
        stream = _stream(self._process.stdout)
        end = End("exit")

        def read(size: int) -> bytes:
            part = stream.read(size)
            self._received += len(part)
            if self._received > MOST_RECEIVED:
                raise ProtocolError(f"more than {MOST_RECEIVED >> 20} MiB of answers")
            return part

        try:
            while (event := read_frame(read, ANSWER_LIMITS)) is not None:
                self._events.put(event)
        except ProtocolError as error:
            end = End("large" if isinstance(error, TooLarge) else "nonsense", detail=str(error))
        except (OSError, ValueError):
            pass
        self._events.put(end)

    def _read_log(self) -> None:
        stream = _stream(self._process.stderr)
        total = 0
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(stream.fileno(), 1 << 16):
                self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])
                total += len(part)
                if total > self._output_limit:
                    self._flooded = True
                    self.kill()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the worker was started without its pipes")
    return stream


def _package_folders() -> list[str]:
    """Return the folders packages are installed in, for a worker that runs without `site`."""
    return [each for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]


def _environment(folder: str) -> dict[str, str]:
    """Return the whole environment of a worker: one thread, no secrets, an empty home, sets in the same order."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    needed = {name: os.environ[name] for name in ("SYSTEMROOT", "PATHEXT", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **threads,
        **needed,
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
