"""Zygotes, as the judge sees them: start, warm up and watch them, fork workers from them, and replace them in time.

A zygote is a process that has libraries loaded and forks worker processes (see worker/sandbox/zygote.py).
"""

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO, Any, TypeVar

from autograder import ending
from autograder.protocol import Value, write_frame
from autograder.runner.run import GraderProblem
from autograder.runner.sandbox.channels import Channel, SocketChannel, StreamChannel, pair
from autograder.runner.sandbox.forked import ForkedProcess, ForkedWorker, pipes
from autograder.runner.sandbox.launch import Launch

START_SECONDS = 180.0
FORK_SECONDS = 30.0
KEPT_LOG = 8 << 10
Process = TypeVar("Process", bound=ForkedProcess)


class ZygoteError(GraderProblem):
    """A zygote could not be started, or could not fork; the message contains its output."""


class Zygote:
    """One zygote. `fork` may be called from several threads."""

    def __init__(self, channel: Channel, log: bytearray | None = None) -> None:
        """Wait for a zygote that is starting; raises `ZygoteError`. `log` is that of the zygote it was split off."""
        self._channel = channel
        self._asking = threading.Lock()
        self._replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self._children: dict[int, ForkedProcess] = {}
        self._early: dict[int, dict[str, Any]] = {}
        self._known = threading.Lock()
        self._log = bytearray() if log is None else log
        self.forks = 0
        self.usable = True
        if isinstance(channel.process, subprocess.Popen):
            threading.Thread(target=self._read_log, args=(channel.process.stderr,), daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.facts = self._reply(START_SECONDS)
        except ZygoteError:
            self.close()
            raise

    @classmethod
    def start(cls, launch: Launch | Sequence[str], warm_up: Value) -> "Zygote":
        """Start a zygote, and warm it up with a job. Raises `ZygoteError`, and OSError if the job cannot be written."""
        try:
            zygote = cls(SocketChannel.start(launch) if isinstance(launch, Launch) else StreamChannel(launch))
        except OSError as error:
            raise ZygoteError(f"the sandbox could not be started: {error}") from error
        try:
            zygote._warm(warm_up)
        except (OSError, ZygoteError):
            zygote.close()
            raise
        return zygote

    def split(self) -> "Zygote":
        """Return another zygote, as warm as this one, which ends when this one does. Raises `ZygoteError`."""
        assert isinstance(self._channel, SocketChannel)
        ours, theirs = pair()
        try:
            with theirs:
                reply = self._ask(partial(self._channel.split, theirs))
        except ZygoteError:
            ours.close()
            raise
        return Zygote(SocketChannel(ours, self._register(ForkedProcess(reply["child"], reply["signal"]))), self._log)

    def enlarge(self) -> None:
        """Move its memory into large pages, for the zygotes that are split off it later. Raises `ZygoteError`."""
        assert isinstance(self._channel, SocketChannel)
        self._ask(self._channel.enlarge)

    @property
    def alive(self) -> bool:
        return self.usable and self._channel.process.poll() is None

    @property
    def busy(self) -> int:
        """The number of running children."""
        return len(self._children)

    def fork(self, layers: Mapping[str, Any]) -> ForkedWorker:
        """Return a new worker with these layers. After a `ZygoteError`, do not use the zygote again."""
        ours, theirs = pipes()
        try:
            reply = self._ask(partial(self._channel.fork, {"do": "fork", **layers}, theirs))
        except ZygoteError:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return self._register(ForkedWorker(reply["child"], reply["signal"], ours, int(layers["cpu_seconds"])))

    def close(self) -> None:
        """Kill the zygote, and with it every child."""
        self.usable = False
        with contextlib.suppress(OSError):
            self._channel.process.kill()
        if isinstance(self._channel.process, subprocess.Popen):
            self._channel.process.wait()
            ending.forget(self._channel.process)
        self._channel.close()

    def _ask(self, send: Callable[[], None]) -> dict[str, Any]:
        """Return the zygote's reply to a request. After a `ZygoteError`, do not use the zygote again."""
        try:
            with self._asking:
                self.forks += 1
                send()
                return self._reply(FORK_SECONDS)
        except (OSError, ZygoteError) as error:
            self.usable = False
            raise ZygoteError(str(error)) from error

    def _register(self, child: Process) -> Process:
        """Keep a process until the zygote reports its end, which it may already have done."""
        ending.started(lambda: child)
        with self._known:
            self._children[child.number] = child
            if early := self._early.pop(child.number, None):
                self._end(early)
        return child

    def _warm(self, job: Value) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(write_frame(job))
            file.seek(0)
            self._channel.warm(file.fileno())
            self._reply(START_SECONDS)

    def _reply(self, seconds: float) -> dict[str, Any]:
        try:
            reply = self._replies.get(timeout=seconds)
        except queue.Empty:
            reply = {"event": "gone", "why": f"the zygote did not answer in {seconds:.0f} s"}
        if reply["event"] in ("failed", "gone"):
            log = self._log.decode("utf-8", "replace").strip()[-500:]
            raise ZygoteError(" ".join(filter(None, [reply["why"], f"({log})" if log else ""])))
        return reply

    def _listen(self) -> None:
        """Receive events until the zygote ends; runs in a thread of its own."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            while received := self._channel.receive():
                event, send = received
                if event["event"] == "ended":
                    with self._known:
                        self._end(event)
                else:
                    self._replies.put({**event, "signal": send})
        self.usable = False
        ending.hold()
        self._replies.put({"event": "gone", "why": "the zygote ended"})
        with self._known:
            for child in self._children.values():
                child.lost = True
                child.end(-signal.SIGKILL)
            self._children.clear()

    def _end(self, event: dict[str, Any]) -> None:
        child = self._children.pop(event["child"], None)
        if child is None:
            self._early[event["child"]] = event
        else:
            child.end(event["status"], event["cpu_seconds"])

    def _read_log(self, stream: IO[bytes]) -> None:
        """Keep the start of the zygote's log and close it at its end; runs in a thread of its own."""
        with stream, contextlib.suppress(OSError):
            while part := os.read(stream.fileno(), 1 << 12):
                self._log.extend(part[: max(0, KEPT_LOG - len(self._log))])
