"""Worker processes as the judge sees them: pipes, signals, and an exit status. Each new one loads its libraries."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Protocol

from autograder import ending
from autograder.protocol.sandbox import arguments_of, worker_environment

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
        self._arguments = arguments_of(libraries, package_folders())
        self._folder = ending.made(lambda: Path(tempfile.mkdtemp(prefix="course-")))
        try:
            ending.started(self._started)
        except BaseException:
            ending.remove(self._folder)
            raise
        self.jobs = _stream(self._process.stdin)
        self.answers = _stream(self._process.stdout)
        self.log = _stream(self._process.stderr)

    def _started(self) -> "SpawnedWorker":
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", "-X", "utf8", str(PROGRAM), *self._arguments],
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


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the worker was started without its pipes")
    return stream


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
    return {**worker_environment(folder), **needed}
