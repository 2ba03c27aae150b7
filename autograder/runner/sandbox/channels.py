"""How the judge speaks with a zygote: by a socket that takes descriptors along, or over a pair of streams."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from autograder import ending
from autograder.protocol.packets import ANSWERS, CONTROL, HEADER, JOBS, LOG, MOST_BYTES
from autograder.runner.sandbox.launch import Launch, start_lasting

MESSAGE_BYTES = 1 << 16

Signal = Callable[[int], None]
Event = dict[str, Any]


class Process(Protocol):
    """The process of a zygote: one that was started here, or what another zygote has split off."""

    def poll(self) -> int | None: ...

    def kill(self) -> None: ...


class Channel(Protocol):
    """What every way has in common. `process` is who is spoken to, and `hear` is called by one thread only."""

    process: Process

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        """Ask for a child with these ends of its pipes: jobs, answers, log. Raises OSError."""

    def warm(self, job: int) -> None:
        """Ask for the job in a file to be run. Raises OSError."""

    def hear(self) -> tuple[Event, Signal | None] | None:
        """Return the next event, for a child with what signals it; None when there are no more. Raises OSError."""

    def close(self) -> None:
        """Stop speaking; `hear` then returns None."""


class Passing:
    """A socket that takes descriptors along: the zygote is on this machine, and writes into the judge's own pipes."""

    def __init__(self, ours: socket.socket, process: Process) -> None:
        self._socket = ours
        self.process = process

    @classmethod
    def start(cls, launch: Launch) -> "Passing":
        """Start a zygote, or take the one that is starting; raises OSError."""
        if (begun := _BEGUN.pop(launch, None)) is not None:
            return begun
        ours, theirs = pair()
        with theirs:
            return cls(ours, launch.start(theirs.fileno()))

    def split(self, theirs: socket.socket) -> None:
        """Ask for another zygote, at the other end of a socket. Raises OSError."""
        socket.send_fds(self._socket, [b'{"do": "split"}'], [theirs.fileno()])

    def enlarge(self) -> None:
        """Ask for large pages. Raises OSError."""
        self._socket.send(b'{"do": "enlarge"}')

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        socket.send_fds(self._socket, [json.dumps(request).encode()], list(ends))

    def warm(self, job: int) -> None:
        socket.send_fds(self._socket, [b'{"do": "warm"}'], [job])

    def hear(self) -> tuple[Event, Signal | None] | None:
        message, descriptors, _, _ = socket.recv_fds(self._socket, MESSAGE_BYTES, 1)
        if not message:
            self._socket.close()
            return None
        return json.loads(message), _by_descriptor(descriptors[0]) if descriptors else None

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


_BEGUN: dict[Launch, Passing] = {}


@contextlib.contextmanager
def beginning(launch: Launch) -> Iterator[None]:
    """Have a zygote start now, for who asks for one first. At the end one that nobody asked for is killed."""
    with contextlib.suppress(OSError):
        _BEGUN[launch] = Passing.start(launch)
    try:
        yield
    finally:
        if (left := _BEGUN.pop(launch, None)) is not None:
            assert isinstance(left.process, subprocess.Popen)
            left.process.kill()
            left.process.communicate()
            ending.forget(left.process)
            left.close()


def pair() -> tuple[socket.socket, socket.socket]:
    """Return both ends of a socket that takes whole messages, and descriptors along."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _by_descriptor(pidfd: int) -> Signal:
    """Return what signals the process of a descriptor, and closes it when told 0."""
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


class Streaming:
    """A pair of streams to a relay, in a container perhaps; `command` runs it (worker/sandbox/relay.py)."""

    def __init__(self, command: Sequence[str]) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._streams = start_lasting(command, **pipes, bufsize=0)
        self.process: Process = self._streams
        self._sending = threading.Lock()
        self._asked: list[list[int]] = []
        self._ends: dict[int, dict[int, int]] = {}

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        self._asked.append([os.dup(each) for each in ends])
        self._send(0, CONTROL, json.dumps(request).encode())

    def warm(self, job: int) -> None:
        self._send(1, CONTROL, os.pread(job, MOST_BYTES, 0))

    def hear(self) -> tuple[Event, Signal | None] | None:
        while True:
            header = self._read(HEADER.size)
            if header is None:
                self._close_ends()
                return None
            child, channel, length = HEADER.unpack(header)
            if length > MOST_BYTES:
                raise OSError(f"a packet of {length} bytes")
            body = self._read(length) or b""
            if channel != CONTROL:
                self._hand_on(child, channel, body)
                continue
            event = json.loads(body)
            if event["event"] == "ended":
                for descriptor in self._ends.pop(event["child"], {}).values():
                    os.close(descriptor)
            elif event["event"] == "failed":
                self._forget_asked()
            elif event["event"] == "forked":
                return event, self._begin(event["child"])
            return event, None

    def close(self) -> None:
        for stream in (self._streams.stdin, self._streams.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _begin(self, child: int) -> Signal:
        jobs, answers, log = self._asked.pop(0)
        self._ends[child] = {ANSWERS: answers, LOG: log}

        def carry() -> None:
            with contextlib.suppress(OSError, ValueError):
                while part := os.read(jobs, 1 << 16):
                    self._send(child, JOBS, part)
                self._send(child, JOBS, b"")
            os.close(jobs)

        threading.Thread(target=carry, daemon=True).start()

        def send(number: int) -> None:
            if number:
                with contextlib.suppress(OSError, ValueError):
                    self._send(0, CONTROL, json.dumps({"do": "signal", "child": child, "number": number}).encode())

        return send

    def _hand_on(self, child: int, channel: int, body: bytes) -> None:
        """Write into the judge's own pipe; what nobody reads any more is dropped."""
        end = self._ends.get(child, {}).get(channel)
        if end is None:
            return
        view = memoryview(body)
        try:
            while view:
                view = view[os.write(end, view) :]
        except OSError:
            body = b""
        if not body:
            os.close(self._ends[child].pop(channel))

    def _forget_asked(self) -> None:
        for each in self._asked.pop(0) if self._asked else ():
            os.close(each)

    def _close_ends(self) -> None:
        while self._asked:
            self._forget_asked()
        for ends in self._ends.values():
            for descriptor in ends.values():
                os.close(descriptor)
        self._ends.clear()

    def _send(self, child: int, channel: int, body: bytes) -> None:
        view = memoryview(HEADER.pack(child, channel, len(body)) + body)
        stream = self._streams.stdin
        assert stream is not None
        with self._sending:
            while view:
                view = view[stream.write(view) :]

    def _read(self, size: int) -> bytes | None:
        """Return so many bytes, None where the stream ends."""
        stream = self._streams.stdout
        assert stream is not None
        parts = bytearray()
        while len(parts) < size:
            part = stream.read(size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)
