"""How a program ends that is asked to stop: at any moment, within seconds, with nothing left behind.

A signal is read by a thread of its own, so it does not matter what the others wait for. That thread closes a gate,
kills every process, removes every temporary file, and ends the program. Behind the gate nothing goes on: no process
starts, no file is written, and no killed worker becomes a verdict. So what was finished is whole.

Without `install`, as in a library or a test, this only keeps the lists.
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
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

if TYPE_CHECKING:
    from subprocess import CompletedProcess

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

OWN_SECONDS = 3.0
"""The most that a command which ends by itself may take. This and the next three together are 5 s."""

GATE_SECONDS = 0.25
"""The most to wait for a process that is being started, or a file that is being made: that takes milliseconds."""

LEAVE_SECONDS = 1.0
"""The most that it may take to sign off from a cluster, and to write out what was printed."""

DEATH_SECONDS = 0.75
"""The most to wait for killed processes."""


class Process(Protocol):
    """What can be killed and waited for."""

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
    """Have SIGINT, SIGTERM and SIGHUP end this program, with this exit status or 128 + the signal.

    SIGHUP stays ignored where `nohup` wants it so.
    """
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    caught = [each for each in SIGNALS if each.name != "SIGHUP" or signal.getsignal(each) != signal.SIG_IGN]
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(ours, theirs, caught, status), name="ending", daemon=True).start()
    for each in caught:
        signal.signal(each, lambda *_: None)
    atexit.register(_ignore, caught)


def _ignore(caught: list[signal.Signals]) -> None:
    """Let no signal change the exit status once the work is done: Python's last steps would die of it."""
    for each in caught:
        signal.signal(each, signal.SIG_IGN)


def asked() -> int | None:
    """Return the signal that asked this program to end, if one did."""
    return _asked[0] if _asked else None


def hold() -> None:
    """Wait for the end, if it has begun: call this before a process that died is taken for more than killed."""
    with _gate:
        pass


def started(start: Callable[[], Made]) -> Made:
    """Return a process that is killed when this program ends; `forget` it once it is gone."""
    with _gate:
        process = start()
        _processes.add(process)
        return process


def run(command: Sequence[str], seconds: float) -> "CompletedProcess[str]":
    """Run a command to its end, or to that of this program. Raises OSError and `subprocess.TimeoutExpired`."""
    import subprocess

    pipe = subprocess.PIPE
    process = started(lambda: subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True))
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
    """Leave a process out of the ending: it has ended."""
    _processes.discard(process)


def made(make: Callable[[], Path]) -> Path:
    """Return a file or folder that is removed when this program ends; `remove` it before, if it can be."""
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
    """Yield a file or folder that is removed afterwards, however this program ends."""
    path = made(make)
    try:
        yield path
    finally:
        remove(path)


@contextlib.contextmanager
def leaving(leave: Callable[[], object]) -> Iterator[None]:
    """Call `leave`, from another thread, if the program ends meanwhile."""
    with _entered(_leaving, leave):
        yield


@contextlib.contextmanager
def saying(sentence: Callable[[], str]) -> Iterator[None]:
    """Say this, if the program ends meanwhile."""
    with _entered(_says, sentence):
        yield


@contextlib.contextmanager
def by_itself(stop: Callable[[int], object]) -> Iterator[None]:
    """Have the first signal call `stop`, from another thread: the command ends by itself, or is ended soon after."""
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
    """Wait for a signal, and end the program. `_theirs` is kept open by being an argument."""
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
    """Return when a second signal comes, or the command has had its time; a command that ends ends this thread."""
    until = time.monotonic() + OWN_SECONDS
    with contextlib.suppress(OSError):
        while (left := until - time.monotonic()) > 0:
            ours.settimeout(left)
            if ours.recv(1)[0] in caught:
                return


def _end(status: int) -> NoReturn:
    try:
        _gate.acquire(timeout=GATE_SECONDS)
        _all_within(LEAVE_SECONDS, [*_leaving, lambda: sys.stdout.flush()])
        for each in [*_processes]:
            _quietly(each.kill)
        _all_within(DEATH_SECONDS, [each.wait for each in [*_processes]])
        for path in [*_temporary]:
            _remove(path)
        with contextlib.suppress(Exception):
            os.write(2, f"{chr(10) if os.isatty(2) else ''}course: {_says[-1]()}\n".encode())
    finally:
        os._exit(status)


def _all_within(seconds: float, calls: list[Callable[[], object]]) -> None:
    """Make each call in a thread of its own, and wait for all of them so long."""
    threads = [threading.Thread(target=_quietly, args=(each,), daemon=True) for each in calls]
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
        for folder, folders, _ in os.walk(path):  # what a student's code has locked
            for name in folders:
                with contextlib.suppress(OSError):
                    Path(folder, name).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
