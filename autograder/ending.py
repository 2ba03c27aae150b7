"""End a program that gets a signal: at any moment, within seconds, and with nothing left behind.

A thread of its own reads the signals, so it does not matter what other threads wait for. That thread locks a gate,
kills every process, removes every temporary file, and ends the program. While the gate is locked, no process starts,
no file is made, and no killed worker becomes a verdict. So every finished file is whole.

Without `install`, as in a library or a test, this module only keeps the lists. It names the exit statuses too.
"""

import atexit
import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

if TYPE_CHECKING:
    from subprocess import CompletedProcess


PASS = 0
FAIL = 1
USAGE = 2
ENVIRONMENT = 3
GRADER = 4
INTERRUPTED = 130
"""The status that a shell reports for a program that Ctrl-C ended."""

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

OWN_SECONDS = 3.0
"""The longest that a command with a `stop` function may take. This and the next three add up to 5 s."""

GATE_SECONDS = 0.25
"""The longest wait for a process that starts or a file that is made: either takes milliseconds."""

LEAVE_SECONDS = 1.0
"""The longest time to sign off from a cluster and to flush stdout."""

DEATH_SECONDS = 0.75
"""The longest wait for killed processes."""


class Process(Protocol):
    """A process that can be killed and waited for."""

    def kill(self) -> None: ...

    def wait(self, seconds: float | None = None, /) -> object: ...


Made = TypeVar("Made", bound=Process)

_gate = threading.RLock()
_processes: set[Process] = set()
_temporary: set[Path] = set()
_leaving: list[Callable[[], object]] = []
_own: list[Callable[[int], object]] = []
_says: list[Callable[[], str]] = [lambda: "stopped"]
_asked: list[int] = []


def install(status: int | None = None) -> None:
    """Make SIGINT, SIGTERM and SIGHUP end this program, with this exit status or 128 + the signal.

    SIGHUP stays ignored if `nohup` started the program.
    """
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    caught = [number for number in SIGNALS if number.name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN]
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(ours, theirs, caught, status), name="ending", daemon=True).start()
    for number in caught:
        signal.signal(number, lambda *_: None)  # Python writes to the wakeup descriptor only if there is a handler
    atexit.register(_ignore, caught)


def _ignore(caught: list[signal.Signals]) -> None:
    """Ignore signals once the work is done: one in Python's last steps would change the exit status."""
    for number in caught:
        signal.signal(number, signal.SIG_IGN)


def asked() -> int | None:
    """Return the signal that this program got, if any."""
    return _asked[0] if _asked else None


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"


def hold() -> None:
    """Wait here if this program is ending. Call this before you conclude anything from the death of a process."""
    with _gate:
        pass


def started(start: Callable[[], Made]) -> Made:
    """Start a process, and kill it if this program ends first. Call `forget` after it has ended."""
    with _gate:
        process = start()
        _processes.add(process)
        return process


def run(command: Sequence[str], seconds: float) -> "CompletedProcess[str]":
    """Run a command, and kill it if this program ends first. Raises OSError and `subprocess.TimeoutExpired`.

    Its output is read as UTF-8, whatever the language of this machine; what is not, is replaced.
    """
    import subprocess

    pipe = subprocess.PIPE
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe}
    process = started(lambda: subprocess.Popen(command, encoding="utf-8", errors="replace", **streams))
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    finally:
        forget(process)
    hold()
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def forget(process: Process) -> None:
    """Drop a process that has ended from the list."""
    _processes.discard(process)


def made(make: Callable[[], Path]) -> Path:
    """Make a file or folder, and remove it if this program ends first. Call `remove` when you are done."""
    with _gate:
        path = make()
        _temporary.add(path)
        return path


def remove(path: Path) -> None:
    """Remove a temporary file or folder."""
    _remove(path)
    _temporary.discard(path)


@contextlib.contextmanager
def temporary(make: Callable[[], Path]) -> Iterator[Path]:
    """Yield a file or folder, and remove it afterwards, however this program ends."""
    path = made(make)
    try:
        yield path
    finally:
        remove(path)


@contextlib.contextmanager
def leaving(leave: Callable[[], object]) -> Iterator[None]:
    """Call `leave` from another thread if the program ends meanwhile."""
    with _entered(_leaving, leave):
        yield


@contextlib.contextmanager
def saying(sentence: Callable[[], str]) -> Iterator[None]:
    """Print this sentence if the program ends meanwhile."""
    with _entered(_says, sentence):
        yield


@contextlib.contextmanager
def by_itself(stop: Callable[[int], object]) -> Iterator[None]:
    """Call `stop` from another thread at the first signal. The command must then end within seconds."""
    with _entered(_own, stop):
        yield


Entry = TypeVar("Entry")


@contextlib.contextmanager
def _entered(entries: list[Entry], entry: Entry) -> Iterator[None]:
    entries.append(entry)
    try:
        yield
    finally:
        entries.remove(entry)


def _listen(ours: socket.socket, _theirs: socket.socket, caught: list[signal.Signals], status: int | None) -> None:
    """Wait for a signal, and end the program. The argument `_theirs` keeps that socket open."""
    while (number := ours.recv(1)[0]) not in caught:
        pass
    _asked.append(number)
    try:
        if _own:
            _own[-1](number)
            _wait_for_another(ours, caught)
    finally:
        _end(128 + number if status is None else status)


def _wait_for_another(ours: socket.socket, caught: list[signal.Signals]) -> None:
    """Return at a second signal, or after `OWN_SECONDS`. If the command ends first, so does this thread."""
    until = time.monotonic() + OWN_SECONDS
    with contextlib.suppress(OSError):
        while (left := until - time.monotonic()) > 0:
            ours.settimeout(left)
            if ours.recv(1)[0] in caught:
                return


def _end(status: int) -> NoReturn:
    try:
        _gate.acquire(timeout=GATE_SECONDS)
        say = _says[-1]  # to leave may end the work that this sentence is about
        _all_within(LEAVE_SECONDS, [*_leaving, lambda: sys.stdout.flush()])
        processes = [*_processes]
        for process in processes:
            _quietly(process.kill)
        _all_within(DEATH_SECONDS, [process.wait for process in processes])
        for path in [*_temporary]:
            _remove(path)
        with contextlib.suppress(Exception):
            os.write(2, f"{chr(10) if os.isatty(2) else ''}course: {say()}\n".encode())
    finally:
        os._exit(status)


def _all_within(seconds: float, calls: list[Callable[[], object]]) -> None:
    """Make each call in a thread of its own, and wait for all of them at most this long."""
    threads = [threading.Thread(target=_quietly, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        _quietly(thread.start)
    until = time.monotonic() + seconds
    for thread in threads:
        if thread.ident is not None:
            thread.join(max(0.0, until - time.monotonic()))


def _quietly(call: Callable[[], object]) -> None:
    with contextlib.suppress(BaseException):
        call()


def _remove(path: Path) -> None:
    import shutil

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        for folder, folders, _ in os.walk(path):  # a student's code may have locked some
            for name in folders:
                with contextlib.suppress(OSError):
                    Path(folder, name).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
