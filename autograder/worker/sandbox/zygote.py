"""The zygote: a process with torch loaded and warm, that forks one confined child for each request.

It runs no student's code itself. `python -I -S -X utf8 zygote.py CHANNEL FOLDER...` has a SEQPACKET socket as
descriptor CHANNEL, and the folders where torch and NumPy lie. Requests and answers are JSON: `warm` with a file to read
a job from, `fork` with the ends of three pipes (jobs, answers, log), `split` with a channel for another zygote, as warm
as this one, and `enlarge` for large pages. It answers `ready`, `warm`, `enlarged`, `forked` with the number and a pidfd
of what it forked, `failed`, and `ended` whenever that is no more.
"""

import contextlib
import fcntl
import json
import os
import resource
import select
import socket
import sys
from pathlib import Path
from typing import Any

MESSAGE_BYTES = 1 << 16
STATUS_UNCONFINED = 99


def main() -> None:
    """Load what every worker needs, then serve the channel until it is closed."""
    kit = str(Path(__file__).resolve().parents[3])
    channel = socket.socket(fileno=int(sys.argv[1]))
    packages = sys.argv[2:]
    sys.argv[1:] = []
    sys.path[:] = [kit, *sys.path, *packages]
    given = dict(os.environ)

    from autograder.worker.sandbox.warming import load

    facts = load()
    if kit not in packages:
        sys.path.remove(kit)
    Zygote(channel, facts, readable=[*_folders(kit), *packages], environment=given).serve()


def _folders(kit: str) -> list[str]:
    """Return what a child may read beside the installed packages: the system's libraries, Python, the worker's code."""
    own = [f"{kit}/autograder/{each}" for each in ("__init__.py", "checks", "protocol", "worker")]
    return ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", sys.base_prefix, *own]


class Zygote:
    """Forks children, and tells of their ends."""

    def __init__(
        self, channel: socket.socket, facts: dict[str, Any], readable: list[str], environment: dict[str, str]
    ) -> None:
        self.channel = channel
        self.facts = facts
        self.environment = environment
        self.readable = readable
        self.children: dict[int, int] = {}
        self.home = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self.nothing = os.open(os.devnull, os.O_RDONLY)

    def serve(self) -> None:
        """Answer until the judge closes the channel."""
        self._tell({"event": "ready", "pid": os.getpid(), **self.facts})
        while True:
            poll = select.poll()
            for descriptor in (self.channel.fileno(), *self.children):
                poll.register(descriptor, select.POLLIN)
            for descriptor, _ in poll.poll():
                if descriptor in self.children:
                    self._reap(descriptor)
                elif not self._answer():
                    return

    def _answer(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self.channel, MESSAGE_BYTES, 3)
        if not message:
            return False
        try:
            request = json.loads(message)
            if request["do"] == "warm":
                self._warm(descriptors[0])
            elif request["do"] == "split":
                self._split(descriptors[0])
            elif request["do"] == "enlarge":
                self._enlarge()
            else:
                self._fork(request, descriptors)
        except Exception as error:
            self._tell({"event": "failed", "why": f"{type(error).__name__}: {error}"})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _warm(self, descriptor: int) -> None:
        from autograder.worker.sandbox.warming import warm

        warm(descriptor)
        os.environ.clear()
        os.environ.update(self.environment)
        self._tell({"event": "warm", "threads": len(os.listdir("/proc/self/task"))})  # noqa: PTH208

    def _enlarge(self) -> None:
        _refuse_threads()
        from autograder.worker.sandbox import pages

        with contextlib.suppress(OSError):  # a /proc that may not be read: then they stay small
            pages.enlarge()
        self._tell({"event": "enlarged"})

    def _split(self, channel: int) -> None:
        _refuse_threads()
        child = os.fork()
        if child == 0:
            self._become_another(channel)
        self._tell_of(child)

    def _become_another(self, channel: int) -> None:
        """In the child: serve a channel of its own, with nothing of this zygote's left open; never return."""
        try:
            own = socket.socket(fileno=os.dup(channel))
            self.channel.close()
            for each in (channel, self.home, self.nothing, *self.children):
                os.close(each)
            Zygote(own, self.facts, self.readable, self.environment).serve()
        except BaseException as error:
            os.write(2, f"the zygote ended: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(0)

    def _fork(self, request: dict[str, Any], descriptors: list[int]) -> None:
        _refuse_threads()
        from autograder.worker.sandbox import linux
        from autograder.worker.sandbox.layers import confinement_of

        confinement = confinement_of(request, self.readable)
        apart = "namespaces" in confinement.layers
        if apart:
            linux.unshare(linux.CLONE_NEWPID)
        try:
            child = os.fork()
            if child == 0:
                _become_worker(confinement, descriptors, self.nothing, request)
        finally:
            if apart:
                linux.enter(self.home)
        self._tell_of(child)

    def _tell_of(self, child: int) -> None:
        pidfd = os.pidfd_open(child)
        self.children[pidfd] = child
        socket.send_fds(self.channel, [json.dumps({"event": "forked", "child": child}).encode()], [pidfd])

    def _reap(self, pidfd: int) -> None:
        child = self.children.pop(pidfd)
        _, status, usage = os.wait4(child, 0)
        os.close(pidfd)
        self._tell(
            {
                "event": "ended",
                "child": child,
                "status": os.waitstatus_to_exitcode(status),
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "peak_kib": usage.ru_maxrss,
            }
        )

    def _tell(self, event: dict[str, Any]) -> None:
        self.channel.send(json.dumps(event).encode())


def _refuse_threads() -> None:
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"the zygote has {threads} threads, and a child of it could wait for them for ever")


def _become_worker(confinement: Any, descriptors: list[int], nothing: int, request: dict[str, Any]) -> None:
    """In the child: keep three descriptors, put the layers on, and serve jobs; never return."""
    try:
        requests, answers, log = (fcntl.fcntl(each, fcntl.F_DUPFD, 64) for each in descriptors)
        for descriptor, place in ((nothing, 0), (log, 1), (log, 2), (requests, 3), (answers, 4)):
            os.dup2(descriptor, place)
        from autograder.worker import limits, session

        limits.note_address_space()
        confinement.put_on()
    except BaseException as error:
        os.write(2, f"the worker could not be confined: {type(error).__name__}: {error}\n".encode())
        os._exit(STATUS_UNCONFINED)
    try:
        if request.get("canaries"):
            from autograder.worker.sandbox.canaries import sing

            sing(4, request["canaries"])
        else:
            session.serve(3, 4)
        sys.stdout.flush()
    finally:
        os._exit(0)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
