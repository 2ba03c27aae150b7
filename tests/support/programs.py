"""Programs that are forked from one process which has loaded the engine: each is fresh, and ready at once.

A program that is started loads the engine for half a second, and many tests run several. Where its start is not the
subject of a test, a forked one is as good: it has its own arguments, folder, environment and streams.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

MOST = 1 << 17
"""A request has fewer bytes."""

AT_START = ("FORKS", "LANG", "LC_", "PYTHON", "TZ")
"""How the variables begin that Python reads when a process starts: a program with others has to be started."""

HEAVY = {"command_desk", "command_lsp", "command_mcp"}
"""The commands whose libraries take as long to load as the engine. They load them when they run."""


class Programs:
    """The process that forks programs, and ends with this one. Several threads may run some."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-P", __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        atexit.register(self._close)

    def _close(self) -> None:
        self._channel.close()
        self._process.wait()

    def run(
        self, arguments: Sequence[str], folder: Path, env: Mapping[str, str], typed: str, timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program in a folder, and return what it printed."""
        sys.audit("subprocess.Popen", "autograder", arguments)  # the tests watch who starts a process
        request = json.dumps([list(arguments), str(folder), dict(env)]).encode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ExitStack() as stack:
            streams = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            streams[0].write(typed.encode())
            streams[0].seek(0)
            stack.enter_context(ours)
            with theirs:
                socket.send_fds(self._channel, [request], [*(stream.fileno() for stream in streams), theirs.fileno()])
            pid = int(ours.recv(MOST))
            ours.settimeout(timeout)
            try:
                status = int(ours.recv(MOST))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            for stream in streams[1:]:
                stream.seek(0)
            stdout, stderr = (stream.read().decode().replace("\r\n", "\n") for stream in streams[1:])
        return subprocess.CompletedProcess(list(arguments), status, stdout, stderr)


def load() -> None:
    """Load what the commands need."""
    from autograder.cli import program

    for name in program.COMMANDS:
        file = program.file_of(name)
        if file is not None and file.stem not in HEAVY:
            importlib.import_module(f"autograder.{file.parent.name}.{file.stem}")
    gc.freeze()


def serve(channel: socket.socket) -> list[str]:
    """Fork a program at each request, until nobody can ask. Returns in each of them, with its arguments."""
    while True:
        request, descriptors, *_ = socket.recv_fds(channel, MOST, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG if request else 0) != (0, 0):
                pass
        if not request:
            os._exit(0)
        if not os.fork():
            channel.close()
            return forked(request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def forked(request: bytes, descriptors: Sequence[int]) -> list[str]:
    """Fork once more: the parent reports how the program ends, and its child becomes the program."""
    *streams, reply = descriptors
    if pid := os.fork():
        with socket.socket(fileno=reply) as asking:
            asking.send(str(pid).encode())
            _, status = os.waitpid(pid, 0)
            asking.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    arguments, folder, env = json.loads(request)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    return [str(argument) for argument in arguments]


if __name__ == "__main__":
    load()
    words = serve(socket.socket(fileno=int(sys.argv[1])))
    from autograder.cli import main

    sys.argv[1:] = words
    main()
