"""Channels between the judge and a zygote: a socket that passes descriptors, or a pair of streams."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

from autograder import ending
from autograder.protocol import write_all
from autograder.protocol.packets import ANSWERS, CONTROL, HEADER, JOBS, LOG, MOST_BYTES, write_packet
from autograder.protocol.sandbox import MESSAGE_BYTES
from autograder.runner.sandbox.launch import Launch, start_lasting

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
        message, descriptors, _, _ = socket.recv_fds(self._socket, MESSAGE_BYTES, 1)
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
    """A pair of streams to a relay (worker/sandbox/relay.py), which may be in a container; `command` starts it."""

    def __init__(self, command: Sequence[str]) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._streams = start_lasting(command, **pipes, bufsize=0)
        self.process: Process = self._streams
        self._sending = threading.Lock()
        self._requested: list[list[int]] = []
        self._ends: dict[int, dict[int, int]] = {}

    def fork(self, request: Event, ends: Sequence[int]) -> None:
        self._requested.append([os.dup(end) for end in ends])
        self._send(0, CONTROL, json.dumps(request).encode())

    def warm(self, job: int) -> None:
        self._send(1, CONTROL, os.pread(job, MOST_BYTES, 0))

    def receive(self) -> tuple[Event, Signal | None] | None:
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

    def _forward(self, child: int, channel: int, body: bytes) -> None:
        """Write a packet's body to the judge's own pipe; drop it if nobody reads there any more."""
        end = self._ends.get(child, {}).get(channel)
        if end is None:
            return
        try:
            write_all(partial(os.write, end), body)
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
            write_packet(stream.write, child, channel, body)

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
