"""Relay a zygote and its children over one pair of streams, for a sandbox that takes no descriptors: a container.

A container runs `python -I -S -X utf8 relay.py FOLDER...`. It starts the zygote next to itself, and forwards every
child's pipes over its own standard input and output, in packets.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[3])]
    sys.path += [argument for argument in sys.argv[1:] if not argument.startswith("--")]

from autograder import protocol

STDIN, STDOUT = 0, 1


def main() -> None:
    """Start the zygote, and forward packets until either end is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    zygote = str(Path(__file__).with_name("zygote.py"))
    command = [sys.executable, *protocol.PYTHON_OPTIONS, zygote, str(theirs.fileno()), *sys.argv[1:]]
    own = protocol.worker_environment(protocol.SCRATCH)
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2, env=own)
    theirs.close()
    try:
        Relay(ours).run()
    finally:
        process.kill()
        process.wait()


class Relay:
    """Forwards packets in one thread. A child that does not read its jobs does not delay the others."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.input = bytearray()
        self.requested: list[tuple[int, int, int]] = []
        """The judge's ends of the pipes of children that the zygote has not forked yet, in order."""
        self.readers: dict[int, tuple[int, int]] = {}
        """Child and channel, by the descriptor to read from."""
        self.jobs: dict[int, int] = {}
        self.waiting: dict[int, bytearray] = {}
        """Bytes of jobs that a child's pipe has not taken yet, by child."""
        self.pidfds: dict[int, int] = {}

    def run(self) -> None:
        """Forward packets until the judge or the zygote is gone."""
        while True:
            poll = select.poll()
            for descriptor in (STDIN, self.channel.fileno(), *self.readers):
                poll.register(descriptor, select.POLLIN)
            for child, waiting in self.waiting.items():
                if waiting:
                    poll.register(self.jobs[child], select.POLLOUT)
            for descriptor, _ in poll.poll():
                if descriptor == STDIN:
                    goes_on = self._from_judge()
                elif descriptor == self.channel.fileno():
                    goes_on = self._from_zygote()
                else:
                    goes_on = self._from_child(descriptor) if descriptor in self.readers else self._to_child(descriptor)
                if not goes_on:
                    return

    def _from_judge(self) -> bool:
        part = os.read(STDIN, 1 << 16)
        self.input += part
        while len(self.input) >= protocol.PACKET_FIELDS.size:
            child, channel, length = protocol.PACKET_FIELDS.unpack_from(self.input)
            if length > protocol.MOST_BYTES:
                return False
            if len(self.input) < protocol.PACKET_FIELDS.size + length:
                break
            body = bytes(self.input[protocol.PACKET_FIELDS.size : protocol.PACKET_FIELDS.size + length])
            del self.input[: protocol.PACKET_FIELDS.size + length]
            if channel == protocol.CONTROL:
                self._request(json.loads(body) if child == 0 else {"do": "warm"}, body)
            elif child in self.jobs:
                self._add_job(child, body)
        return bool(part)

    def _request(self, request: dict[str, Any], body: bytes) -> None:
        """Signal a child, or pass a request on to the zygote with the descriptors that belong to it."""
        if request["do"] == "signal":
            if request["child"] in self.pidfds:
                signal.pidfd_send_signal(self.pidfds[request["child"]], request["number"])
        elif request["do"] == "fork":
            jobs, answers, log = os.pipe(), os.pipe(), os.pipe()
            theirs = [jobs[0], answers[1], log[1]]
            socket.send_fds(self.channel, [body], theirs)
            self.requested.append((jobs[1], answers[0], log[0]))
            for descriptor in theirs:
                os.close(descriptor)
        else:
            file = os.memfd_create("job")
            protocol.write_all(partial(os.write, file), body)
            os.lseek(file, 0, os.SEEK_SET)
            socket.send_fds(self.channel, [b'{"do": "warm"}'], [file])
            os.close(file)

    def _add_job(self, child: int, body: bytes) -> None:
        """Queue a part of a child's jobs; an empty one is the last."""
        if body:
            self.waiting[child] += body
        elif not self.waiting[child]:
            self._finish_jobs(child)

    def _from_zygote(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self.channel, protocol.MESSAGE_BYTES, 1)
        if not message:
            return False
        event = json.loads(message)
        if event["event"] == "forked":
            child = event["child"]
            jobs, answers, log = self.requested.pop(0)
            os.set_blocking(jobs, False)
            self.jobs[child], self.waiting[child], self.pidfds[child] = jobs, bytearray(), descriptors[0]
            self.readers |= {answers: (child, protocol.ANSWERS), log: (child, protocol.LOG)}
        elif event["event"] == "failed" and self.requested:
            for descriptor in self.requested.pop(0):
                os.close(descriptor)
        elif event["event"] == "ended":
            self._finish_jobs(event["child"])
            os.close(self.pidfds.pop(event["child"]))
            # What is still in its pipes has to reach the judge before the news of its end.
            for descriptor in [reader for reader, (child, _) in self.readers.items() if child == event["child"]]:
                while descriptor in self.readers:
                    self._from_child(descriptor)
        _send(0, protocol.CONTROL, message)
        return True

    def _from_child(self, descriptor: int) -> bool:
        child, channel = self.readers[descriptor]
        part = os.read(descriptor, 1 << 16)
        if not part:
            del self.readers[descriptor]
            os.close(descriptor)
        _send(child, channel, part)
        return True

    def _to_child(self, descriptor: int) -> bool:
        for child in [child for child, jobs in self.jobs.items() if jobs == descriptor]:
            try:
                del self.waiting[child][: os.write(descriptor, self.waiting[child])]
            except OSError:  # the child closed its end: it wants no more jobs
                self._finish_jobs(child)
        return True

    def _finish_jobs(self, child: int) -> None:
        if child in self.jobs:
            os.close(self.jobs.pop(child))
            del self.waiting[child]


def _send(child: int, channel: int, body: bytes) -> None:
    protocol.write_packet(partial(os.write, STDOUT), child, channel, body)


if __name__ == "__main__":
    main()
