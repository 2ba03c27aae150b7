"""Traps for submissions: secrets, listeners, and searches for processes and files left behind."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LINGER_SECONDS = 0.5
"""The seconds a process may take to end after its submission was graded."""

VARIABLE = "COURSE_ATTACK_SECRET"


class Traps:
    """A folder that plays the instructor's machine, with a secret in every place where one could lie.

    `targets` gives an attack their locations: isolation that works does not need to hide them.
    """

    def __init__(self, base: Path, seed: int) -> None:
        self.base = base
        self.mark = f"course-attack-{secrets.randbits(48):012x}"
        self.secrets: dict[str, str] = {"the seed": str(seed), "proof": _random()}
        self.tried = _random()
        self.targets: dict[str, Any] = {"mark": self.mark, "variable": VARIABLE}
        self.targets.update(tried=self.tried[::-1], proof=self.secrets["proof"][::-1])
        self.calls: list[tuple[str, bytes]] = []
        self._open: list[socket.socket] = []
        self._home: Path | None = None
        os.environ[VARIABLE] = self._secret("the environment")
        self._other = subprocess.Popen(  # what a process sets for itself is not in /proc, what it was started with is
            [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, cwd="/", env=dict(os.environ)
        )
        self._lay("solution", base / "course" / "solutions" / "answers.md", "the solutions")
        self._lay("submission", base / "handed_in" / "bob" / "notes.txt", "another submission")
        self._lay("report", base / "graded" / "reports" / "carol.json", "another report")
        self._lay("temporary", Path(tempfile.gettempdir(), "instructor.txt"), "the folder for temporary files")
        with contextlib.suppress(OSError, RuntimeError):
            self._home = Path.home() / f".{self.mark}"
            self._lay("home", self._home, "the home folder")
        self._held = os.open(self.targets["solution"], os.O_RDONLY)
        os.set_inheritable(self._held, True)
        self.targets.update(course=str(base / "course"), judge=os.getpid(), tmp=tempfile.gettempdir())
        self._listen()

    def close(self) -> None:
        """Close everything that is outside the base folder."""
        for handle in self._open:
            with contextlib.suppress(OSError):
                handle.close()
        os.close(self._held)
        self._other.kill()
        self._other.communicate()
        os.environ.pop(VARIABLE, None)
        if self._home is not None:
            self._home.unlink(missing_ok=True)

    def found_in(self, data: bytes) -> list[str]:
        """Return the names of the secrets in some bytes."""
        return [name for name, secret in self.secrets.items() if secret.encode() in data]

    def touched(self) -> list[str]:
        """Return the calls to the listeners since the last call."""
        calls, self.calls = self.calls, []
        reports = {f"{name} got {self.found_in(data) or 'a call'}" for name, data in calls}
        return sorted(reports)

    def _secret(self, name: str) -> str:
        return self.secrets.setdefault(name, _random())

    def _lay(self, key: str, file: Path, name: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{self._secret(name)}\n")
        self.targets[key] = str(file)

    def _listen(self) -> None:
        path = str(self.base / "socket")
        self._stream("tcp", socket.AF_INET, ("127.0.0.1", 0))
        self._stream("unix", socket.AF_UNIX, path)
        self._stream("abstract", socket.AF_UNIX, f"\0{self.mark}")
        if hasattr(socket, "AF_VSOCK"):
            self._stream("vsock", socket.AF_VSOCK, (1, 40_000 + os.getpid() % 20_000))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", 0))
        self.targets["udp"] = datagrams.getsockname()
        self._open.append(datagrams)
        threading.Thread(target=self._receive, args=("udp", datagrams), daemon=True).start()

    def _stream(self, name: str, family: int, address: Any) -> None:
        """Listen on an address, if this kernel supports it."""
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            return
        try:
            listener.bind(address)
            listener.listen()
        except OSError:
            listener.close()
            return
        self.targets[name] = listener.getsockname()
        self._open.append(listener)
        threading.Thread(target=self._accept, args=(name, listener), daemon=True).start()

    def _accept(self, name: str, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = listener.accept()
                caller.settimeout(2)
                data = b""
                with caller, contextlib.suppress(OSError):
                    data = caller.recv(4096)
                self.calls.append((name, data))

    def _receive(self, name: str, datagrams: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.calls.append((name, datagrams.recv(4096)))


def survivors(base: Path, before: set[int]) -> list[int]:
    """Return the processes that came out of a worker, outlived it, and belong to nobody any more; then end them.

    A worker's environment names a folder below `base`; one that is a descendant of this process is still in use.
    """
    until = time.monotonic() + LINGER_SECONDS
    while (found := _orphans(base, before)) and time.monotonic() < until:
        time.sleep(0.05)
    for process in found:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return found


def processes() -> set[int]:
    """Return all process ids; none if the system does not list them."""
    return {int(file.name) for file in Path("/proc").glob("[0-9]*")}


def _orphans(base: Path, before: set[int]) -> list[int]:
    return [pid for pid in sorted(processes() - before) if _came_from(pid, base) and os.getpid() not in _line_of(pid)]


def _came_from(pid: int, base: Path) -> bool:
    wanted = str(base).encode()
    for name in ("environ", "cmdline"):
        with contextlib.suppress(OSError):
            if wanted in Path(f"/proc/{pid}/{name}").read_bytes():
                return True
    return False


def _line_of(pid: int) -> set[int]:
    """Return the parents of a process, theirs, and so on; a dead one has none, and does not count."""
    line: set[int] = set()
    try:
        while pid > 1 and pid not in line:
            line.add(pid)
            state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
            if state == "Z" and len(line) == 1:
                return {os.getpid()}
            pid = int(parent)
    except (OSError, ValueError):
        return {os.getpid()} if len(line) == 1 else line
    return line


def files_left(traps: Traps) -> list[str]:
    """Return the files and folders that carry the attackers' mark, wherever one can write, and take them away."""
    found = [file for file in _marked(traps) if file != traps.targets.get("home")]
    for place in found:
        path = Path(place)
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    return found


def _marked(traps: Traps) -> Iterator[str]:
    for folder, _, files in os.walk(traps.base):
        yield from (str(Path(folder, name)) for name in files if traps.mark in name)
        if traps.mark in Path(folder).name:
            yield folder
    shared = {"/tmp", "/var/tmp", "/dev/shm", "/", str(Path.cwd()), str(Path.home()), str(Path(__file__).parent)}
    for shared_folder in sorted(shared):
        with contextlib.suppress(OSError):
            yield from (str(Path(shared_folder, name)) for name in os.listdir(shared_folder) if traps.mark in name)  # noqa: PTH208


def _random() -> str:
    return f"{secrets.randbits(96):024x}"
