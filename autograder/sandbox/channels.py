"""Channels between the judge and a zygote: a socket that passes descriptors, or a pair of streams."""

import contextlib
import errno
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import IO, Any, Protocol

from autograder import ending, protocol
from autograder.runner import environment, package_folders

# Start a zygote: in bubblewrap, as an unprivileged user, with only those files of this machine that it needs.

KIT = Path(__file__).parents[1]
ZYGOTE = KIT / "sandbox" / "confined" / "zygote.py"
STAGING = KIT / "sandbox" / "confined" / "staging.py"
HIDDEN = "/canary"
"""A folder that is visible in bubblewrap and that Landlock has to hide: a canary tries to list it."""

NOBODY = 65534
"""The user and group `nobody`."""

_STAGE = "/mnt"
"""Where the files that the sandbox needs are mounted, for a judge that is root (see sandbox/confined/staging.py)."""

_STARTER = ThreadPoolExecutor(1, "starter")


def start_lasting(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a program from a thread that never ends: bubblewrap dies with the thread that started it."""
    return _STARTER.submit(ending.started, lambda: subprocess.Popen(command, **options)).result()


@dataclass(frozen=True)
class Launch:
    """A way to start a zygote: inside bubblewrap (`outer`), or as a plain process that confines only its children.

    It loads the `libraries` at once, and those of its first job that it has not loaded yet.
    """

    outer: bool
    libraries: tuple[str, ...] = ()

    @property
    def scratch(self) -> str:
        """The folder in which a zygote may write."""
        return protocol.SCRATCH if self.outer else "/tmp"

    def command(self, channel: int) -> list[str]:
        """Return the command that starts the zygote on a channel, a descriptor that it inherits."""
        python = [os.path.realpath(sys.executable), *protocol.PYTHON_OPTIONS]
        zygote = [*python, str(ZYGOTE), str(channel), *protocol.arguments_of(self.libraries, package_folders())]
        if not self.outer:
            return zygote
        if os.geteuid() != 0:
            return [*_bubblewrap(_paths()), *zygote]
        staged = [[path, f"{_STAGE}/{number}"] for number, path in enumerate(_paths())]
        wrapped = [*_bubblewrap(dict(staged)), *zygote]
        return [*python, "-B", str(STAGING), json.dumps({"stage": _STAGE, "binds": staged, "user": NOBODY}), *wrapped]

    def start(self, channel: int) -> subprocess.Popen[bytes]:
        """Start the zygote, with no environment and as an ordinary user; its log is a pipe. Raises OSError."""
        return start_lasting(
            self.command(channel),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[channel],
            cwd="/",
            env=environment(self.scratch),
            start_new_session=True,
            **self.user(),
        )

    def user(self) -> dict[str, Any]:
        """Return the user to start as: nobody instead of root. Bubblewrap drops root by itself."""
        root = os.geteuid() == 0 and not self.outer
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}


def bubblewrap_problem() -> str:
    """Return why bubblewrap cannot be used on this machine, or an empty text."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
    command = ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"]
    done = ending.run(command, 60)
    return "" if done.returncode == 0 else f"bubblewrap does not work here ({done.stderr.strip()[:200]})"


def _paths() -> dict[str, str]:
    """Return the folders and files the zygote needs outside of /usr, each mapped to itself."""
    needed = [sys.base_prefix, *package_folders(), *(str(KIT / name) for name in protocol.SHIPPED)]
    needed += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    outside = [path for path in dict.fromkeys(map(os.path.realpath, needed)) if not _below(path, ["/usr"])]
    return {path: path for path in outside if not _below(path, [other for other in outside if other != path])}


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _bubblewrap(sources: dict[str, str]) -> list[str]:
    """Return bubblewrap with its options. `sources` maps each path in the sandbox to its source on this machine."""
    system: list[str] = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin"):
        path = Path("/", name)
        if path.is_symlink():
            system += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            system += ["--ro-bind", str(path), str(path)]
    for name in ("/etc/ld.so.cache", "/etc/localtime"):
        system += ["--ro-bind-try", name, name]
    binds = [part for path, source in sources.items() for part in ("--ro-bind", source, path)]
    return [
        "bwrap",
        *("--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0"),
        *("--die-with-parent", "--new-session"),
        # The zygote needs these two to make namespaces for its children, which drop both.
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETFCAP"),
        *system,
        *binds,
        *("--dir", HIDDEN, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        *("--size", str(protocol.SCRATCH_MIB << 20), "--tmpfs", protocol.SCRATCH),
        *("--remount-ro", "/", "--chdir", protocol.SCRATCH, "--"),
    ]


Signal = Callable[[int], None]
"""Sends a signal to a child; 0 releases what is needed for that."""

Event = dict[str, Any]


class Process(Protocol):
    """The process of a zygote: started here, or split off another zygote."""

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        ...

    def kill(self) -> None: ...


class Channel(Protocol):
    """A channel to the zygote `process`. Only one thread may call `receive`."""

    process: Process

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        """Ask for a child with these ends of its pipes: jobs, answers, log. Raises OSError."""

    def warm(self, job: int) -> None:
        """Ask the zygote to run the job in a file. Raises OSError."""

    def receive(self) -> tuple[Event, Signal | None] | None:
        """Return the next event, for a new child with its `Signal`; None at the end. Raises OSError."""

    def close(self) -> None:
        """Close the channel; `receive` then returns None."""


class SocketChannel:
    """A socket that passes descriptors: the zygote is on this machine, and writes to the judge's own pipes."""

    def __init__(self, ours: socket.socket, process: Process) -> None:
        self._socket = ours
        self.process = process

    @classmethod
    def start(cls, launch: Launch) -> "SocketChannel":
        """Start a zygote, or use the one that `prestarted_zygote` has started; raises OSError."""
        if (prestarted := _PRESTARTED.pop(launch, None)) is not None:
            return prestarted
        ours, theirs = pair()
        with theirs:
            return cls(ours, launch.start(theirs.fileno()))

    def split(self, theirs: socket.socket) -> None:
        """Ask the zygote to fork another one, at the other end of a socket. Raises OSError."""
        socket.send_fds(self._socket, [b'{"do": "split"}'], [theirs.fileno()])

    def enlarge(self) -> None:
        """Ask the zygote to use large pages. Raises OSError."""
        self._socket.send(b'{"do": "enlarge"}')

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        socket.send_fds(self._socket, [json.dumps(request).encode()], list(ends))

    def warm(self, job: int) -> None:
        socket.send_fds(self._socket, [b'{"do": "warm"}'], [job])

    def receive(self) -> tuple[Event, Signal | None] | None:
        message, descriptors, _, _ = socket.recv_fds(self._socket, protocol.MESSAGE_BYTES, 1)
        if not message:
            self._socket.close()
            return None
        return json.loads(message), _by_descriptor(descriptors[0]) if descriptors else None

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """Close the socket, on which nobody receives."""
        self._socket.close()


_PRESTARTED: dict[Launch, SocketChannel] = {}


@contextlib.contextmanager
def prestarted_zygote(launch: Launch) -> Iterator[None]:
    """Start a zygote now, for the first that needs one; kill it at the end of the block if none did."""
    with contextlib.suppress(OSError):
        _PRESTARTED[launch] = SocketChannel.start(launch)
    try:
        yield
    finally:
        if (left := _PRESTARTED.pop(launch, None)) is not None:
            assert isinstance(left.process, subprocess.Popen)
            left.process.kill()
            left.process.communicate()
            ending.forget(left.process)
            left.release()


def pair() -> tuple[socket.socket, socket.socket]:
    """Return both ends of a socket that keeps messages whole and can pass descriptors."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _by_descriptor(pidfd: int) -> Signal:
    """Return a function that signals the process of a pidfd, which unlike its number never means another process.

    Signal 0 closes the pidfd.
    """
    lock = threading.Lock()
    held = [pidfd]

    def send(number: int) -> None:
        with lock, contextlib.suppress(OSError):
            if number == 0:
                while held:
                    os.close(held.pop())
            elif held:
                signal.pidfd_send_signal(held[0], number)

    return send


class StreamChannel:
    """A pair of streams to a relay (sandbox/confined/relay.py), which may be in a container; `command` starts it."""

    def __init__(self, command: Sequence[str]) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._streams = start_lasting(command, **pipes, bufsize=0)
        self.process: Process = self._streams
        self._sending = threading.Lock()
        self._requested: list[list[int]] = []
        self._ends: dict[int, dict[int, int]] = {}

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        self._requested.append([os.dup(end) for end in ends])
        self._send(0, protocol.CONTROL, json.dumps(request).encode())

    def warm(self, job: int) -> None:
        self._send(1, protocol.CONTROL, os.pread(job, protocol.MOST_BYTES, 0))

    def receive(self) -> tuple[Event, Signal | None] | None:
        while True:
            header = self._read(protocol.PACKET_FIELDS.size)
            if header is None:
                self._close_ends()
                return None
            child, channel, length = protocol.PACKET_FIELDS.unpack(header)
            if length > protocol.MOST_BYTES:
                raise OSError(f"a packet of {length} bytes")
            body = self._read(length) or b""
            if channel != protocol.CONTROL:
                self._forward(child, channel, body)
                continue
            event = json.loads(body)
            if event["event"] == "ended":
                for descriptor in self._ends.pop(event["child"], {}).values():
                    os.close(descriptor)
            elif event["event"] == "failed":
                self._drop_request()
            elif event["event"] == "forked":
                return event, self._begin(event["child"])
            return event, None

    def close(self) -> None:
        for stream in (self._streams.stdin, self._streams.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _begin(self, child: int) -> Signal:
        jobs, answers, log = self._requested.pop(0)
        self._ends[child] = {protocol.ANSWERS: answers, protocol.LOG: log}

        def carry() -> None:
            with contextlib.suppress(OSError, ValueError):
                while part := os.read(jobs, 1 << 16):
                    self._send(child, protocol.JOBS, part)
                self._send(child, protocol.JOBS, b"")
            os.close(jobs)

        threading.Thread(target=carry, daemon=True).start()

        def send(number: int) -> None:
            if number:
                with contextlib.suppress(OSError, ValueError):
                    self._send(
                        0, protocol.CONTROL, json.dumps({"do": "signal", "child": child, "number": number}).encode()
                    )

        return send

    def _forward(self, child: int, channel: int, body: bytes) -> None:
        """Write a packet's body to the judge's own pipe; drop it if nobody reads there any more."""
        end = self._ends.get(child, {}).get(channel)
        if end is None:
            return
        try:
            protocol.write_all(partial(os.write, end), body)
        except OSError:
            body = b""  # closes the pipe below, as the last packet would
        if not body:
            os.close(self._ends[child].pop(channel))

    def _drop_request(self) -> None:
        for descriptor in self._requested.pop(0) if self._requested else ():
            os.close(descriptor)

    def _close_ends(self) -> None:
        while self._requested:
            self._drop_request()
        for ends in self._ends.values():
            for descriptor in ends.values():
                os.close(descriptor)
        self._ends.clear()

    def _send(self, child: int, channel: int, body: bytes) -> None:
        stream = self._streams.stdin
        assert stream is not None
        with self._sending:
            protocol.write_packet(stream.write, child, channel, body)

    def _read(self, size: int) -> bytes | None:
        """Return `size` bytes, None at the end of the stream."""
        stream = self._streams.stdout
        assert stream is not None
        parts = bytearray()
        while len(parts) < size:
            part = stream.read(size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)


# Processes that a zygote has forked, as the judge sees them: another zygote, or a confined worker with its pipes.

_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ


class ForkedProcess:
    """A process whose end the zygote reports. `lost` is set if it ended because the zygote did."""

    lost = False

    def __init__(self, number: int, send: Signal, cpu_seconds: float = math.inf) -> None:
        """`cpu_seconds` is its limit, at which the kernel kills it."""
        self.number = number
        self._send = send
        self._cpu_seconds = cpu_seconds
        self._ended = threading.Event()
        self._status: int | None = None

    def signal(self, number: int) -> None:
        if not self._ended.is_set():
            self._send(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> int | None:
        return self._status if self._ended.wait(seconds) else None

    def end(self, status: int, cpu_seconds: float = 0.0) -> None:
        """Record the end of the process and the CPU time it used."""
        if status == -signal.SIGKILL and cpu_seconds > self._cpu_seconds - 1:
            status = -signal.SIGXCPU  # the kernel kills at the limit, but the message should say that time ran out
        self._status = status
        self._ended.set()
        self._send(0)
        ending.forget(self)


class ForkedWorker(ForkedProcess):
    """A confined worker process that a zygote has forked."""

    fresh = False

    def __init__(self, number: int, send: Signal, ends: tuple[int, int, int], cpu_seconds: int) -> None:
        super().__init__(number, send, cpu_seconds)
        self.jobs: IO[bytes] = FileIO(ends[0], "w")
        self.answers: IO[bytes] = FileIO(ends[1], "r")
        self.log: IO[bytes] = FileIO(ends[2], "r")

    def close(self) -> None:
        self.kill()
        for stream in (self.jobs, self.answers, self.log):
            with contextlib.suppress(OSError, ValueError):
                stream.close()


def pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the ends of a worker's pipes for jobs, answers and log: those of the judge, then those of the worker."""
    jobs, answers, log = _large_pipe(), _large_pipe(), os.pipe()
    return (jobs[1], answers[0], log[0]), (jobs[0], answers[1], log[1])


def _large_pipe() -> tuple[int, int]:
    """Return a pipe that holds a large answer, if the system allows it, so that the worker need not wait."""
    import fcntl

    ends = os.pipe()
    try:
        fcntl.fcntl(ends[1], _SET_PIPE_SIZE, _PIPE_BYTES)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EINVAL, errno.EBUSY):
            raise
    return ends
