"""A worker as the judge holds it: three pipes, a way to signal it, and its end. One that is started costs an import of
torch."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Protocol

from autograder import ending

PROGRAM = Path(__file__).parents[1] / "worker" / "__main__.py"


class Child(Protocol):
    """A process that reads jobs, writes answers, and logs what the student's code prints."""

    jobs: IO[bytes]
    answers: IO[bytes]
    log: IO[bytes]
    fresh: bool
    """Whether it has to load torch before it is ready."""
    lost: bool
    """Whether it ended because what it was forked from is no more: no fault of any program's."""

    def signal(self, number: int) -> None:
        """Send a signal, if it still lives."""

    def kill(self) -> None:
        """Kill it, and whatever it started."""

    def wait(self, seconds: float | None = None) -> int | None:
        """Return its exit status, negative for a signal; None where it lives on after so many seconds."""

    def close(self) -> None:
        """Kill it, and take away what it left."""


class Spawned:
    """A worker program in a process group of its own, with no environment and an empty working folder."""

    fresh = True
    lost = False

    def __init__(self) -> None:
        self._folder = ending.made(lambda: Path(tempfile.mkdtemp(prefix="course-")))
        try:
            ending.started(self._started)
        except BaseException:
            ending.remove(self._folder)
            raise
        self.jobs = _stream(self._process.stdin)
        self.answers = _stream(self._process.stdout)
        self.log = _stream(self._process.stderr)

    def _started(self) -> "Spawned":
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", "-X", "utf8", str(PROGRAM), *package_folders()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # a buffered stream cannot be closed while a thread still reads from it
            cwd=self._folder,
            env=environment(str(self._folder)),
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
    """Return the folders packages are installed in, for a worker that runs without `site`."""
    return [each for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]


def environment(folder: str) -> dict[str, str]:
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
