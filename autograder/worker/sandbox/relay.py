"""A zygote and its children behind one pair of streams, for a sandbox that descriptors cannot be passed into.

`python -I -S -X utf8 relay.py FOLDER...` is what a container runs: it starts the zygote beside itself, and carries
every child's pipes over its own standard input and output, in packets.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[3])]
    sys.path += sys.argv[1:]

from autograder.protocol.packets import ANSWERS, CONTROL, HEADER, LOG, MOST_BYTES

MESSAGE_BYTES = 1 << 16

ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **{
        "HOME": "/scratch",
        "TMPDIR": "/scratch",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    },
}
"""The whole environment of a worker, as it is on the judge's side too."""


def main() -> None:
    """Start the zygote, and carry packets until either end is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    zygote = str(Path(__file__).with_name("zygote.py"))
    command = [sys.executable, "-I", "-S", "-X", "utf8", zygote, str(theirs.fileno()), *sys.argv[1:]]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2, env=ENVIRONMENT)
    theirs.close()
    try:
        Relay(ours).carry()
    finally:
        process.kill()
        process.wait()


class Relay:
    """One thread that carries what comes. A child that does not read its jobs keeps nobody else waiting."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.input = bytearray()
        self.asked: list[tuple[int, int, int]] = []
        self.readers: dict[int, tuple[int, int]] = {}
        self.jobs: dict[int, int] = {}
        self.waiting: dict[int, bytearray] = {}
        self.pidfds: dict[int, int] = {}

    def carry(self) -> None:
        """Carry packets until there is nobody to carry them to."""
        while True:
            poll = select.poll()
            for descriptor in (0, self.channel.fileno(), *self.readers):
                poll.register(descriptor, select.POLLIN)
            for child, waiting in self.waiting.items():
                if waiting:
                    poll.register(self.jobs[child], select.POLLOUT)
            for descriptor, _ in poll.poll():
                if descriptor == 0:
                    goes_on = self._from_judge()
                elif descriptor == self.channel.fileno():
                    goes_on = self._from_zygote()
                else:
                    goes_on = self._from_child(descriptor) if descriptor in self.readers else self._to_child(descriptor)
                if not goes_on:
                    return

    def _from_judge(self) -> bool:
        part = os.read(0, 1 << 16)
        self.input += part
        while len(self.input) >= HEADER.size:
            child, channel, length = HEADER.unpack_from(self.input)
            if length > MOST_BYTES:
                return False
            if len(self.input) < HEADER.size + length:
                break
            body = bytes(self.input[HEADER.size : HEADER.size + length])
            del self.input[: HEADER.size + length]
            if channel == CONTROL:
                self._obey(json.loads(body) if child == 0 else {"do": "warm"}, body)
            elif child in self.jobs:
                self._hand_on(child, body)
        return bool(part)

    def _obey(self, request: dict[str, Any], body: bytes) -> None:
        if request["do"] == "signal":
            if request["child"] in self.pidfds:
                signal.pidfd_send_signal(self.pidfds[request["child"]], request["number"])
        elif request["do"] == "fork":
            jobs, answers, log = os.pipe(), os.pipe(), os.pipe()
            theirs = [jobs[0], answers[1], log[1]]
            socket.send_fds(self.channel, [body], theirs)
            self.asked.append((jobs[1], answers[0], log[0]))
            for each in theirs:
                os.close(each)
        else:
            file = os.memfd_create("job")
            view = memoryview(body)
            while view:
                view = view[os.write(file, view) :]
            os.lseek(file, 0, os.SEEK_SET)
            socket.send_fds(self.channel, [b'{"do": "warm"}'], [file])
            os.close(file)

    def _hand_on(self, child: int, body: bytes) -> None:
        if body:
            self.waiting[child] += body
        elif not self.waiting[child]:
            self._finish_jobs(child)

    def _from_zygote(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self.channel, MESSAGE_BYTES, 1)
        if not message:
            return False
        event = json.loads(message)
        if event["event"] == "forked":
            child = event["child"]
            jobs, answers, log = self.asked.pop(0)
            os.set_blocking(jobs, False)
            self.jobs[child], self.waiting[child], self.pidfds[child] = jobs, bytearray(), descriptors[0]
            self.readers |= {answers: (child, ANSWERS), log: (child, LOG)}
        elif event["event"] == "failed" and self.asked:
            for each in self.asked.pop(0):
                os.close(each)
        elif event["event"] == "ended":
            self._finish_jobs(event["child"])
            os.close(self.pidfds.pop(event["child"]))
            for descriptor in [each for each, (child, _) in self.readers.items() if child == event["child"]]:
                while descriptor in self.readers:
                    self._from_child(descriptor)
        _send(0, CONTROL, message)
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
        for child in [each for each, jobs in self.jobs.items() if jobs == descriptor]:
            try:
                del self.waiting[child][: os.write(descriptor, self.waiting[child])]
            except OSError:
                self._finish_jobs(child)
        return True

    def _finish_jobs(self, child: int) -> None:
        if child in self.jobs:
            os.close(self.jobs.pop(child))
            del self.waiting[child]


def _send(child: int, channel: int, body: bytes) -> None:
    view = memoryview(HEADER.pack(child, channel, len(body)) + body)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
