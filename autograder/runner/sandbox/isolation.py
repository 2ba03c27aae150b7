"""Find the isolation level of this machine: it is what canaries have proved, not what was requested."""

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import ending
from autograder.protocol import Limits, ProtocolError, Value, read_frame
from autograder.protocol.sandbox import SCRATCH, SCRATCH_MIB
from autograder.runner.sandbox.forked import ForkedWorker
from autograder.runner.sandbox.launch import HIDDEN, Launch, bubblewrap_problem
from autograder.runner.sandbox.zygote_pool import ZygotePool
from autograder.runner.sandbox.zygotes import Zygote, ZygoteError
from autograder.runner.worker_handle import SpawnedWorker, WorkerHandle

LAYERS: Mapping[str, tuple[str, ...]] = {
    "L3": ("session", "descriptors", "namespaces", "limits", "landlock", "privileges", "seccomp"),
    "L2": ("session", "descriptors", "limits", "landlock", "privileges", "seccomp"),
}
"""The layers that a worker applies at each level. L1 is a container without these, L0 a plain process."""

CPU_SECONDS = 120
"""The most CPU time one worker may use for all its checks."""

CANARY_SECONDS = 30.0
"""How long the canaries may take together, far more than they need."""


class IsolationError(Exception):
    """This machine cannot confine submissions; the message says why and what to do."""


@dataclass(frozen=True)
class Isolation:
    """An isolation level, its description for people (`sentence`), and the zygotes that start workers at it.

    Without zygotes, a worker loads the `libraries` itself.
    """

    level: str
    sentence: str
    zygotes: ZygotePool | None = None
    libraries: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The isolation as reports name it: `sandbox` or `process`."""
        return "sandbox" if self.confined else "process"

    @property
    def confined(self) -> bool:
        """Whether untrusted submissions may run."""
        return self.zygotes is not None

    def start(self) -> WorkerHandle:
        """Start a worker; raises `ZygoteError`."""
        if self.zygotes is None:
            return SpawnedWorker(self.libraries)
        return self.zygotes.fork(request(LAYERS[self.level]))

    def expect(self, workers: int) -> None:
        """Announce the expected number of workers: for many, the zygotes prepare to fork faster."""
        if self.zygotes is not None:
            self.zygotes.expect(workers)

    def close(self) -> None:
        """Kill every zygote."""
        if self.zygotes is not None:
            self.zygotes.close()

    def __enter__(self) -> "Isolation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def process_isolation(libraries: tuple[str, ...] = ()) -> Isolation:
    """Return the isolation of every machine: a fresh process for each submission, with the rights of its user."""
    level = "L1" if Path("/.dockerenv").exists() or "container" in os.environ else "L0"
    return Isolation(level, f"{level}: a process for each submission, which sees what you see", libraries=libraries)


def open_isolation(
    warm_up: Value, jobs: int, command: Sequence[str] | None = None, meanwhile: Callable[[], None] = lambda: None
) -> Isolation:
    """Return the highest isolation level that canaries prove here. Raises `IsolationError` if it is below L2.

    `command` starts a relay in another kind of sandbox, such as a container; without it, bubblewrap is the outer
    sandbox. `meanwhile` is called while the zygotes load the libraries of the job `warm_up`.
    """
    problems: list[str] = []
    for launch, sentence, levels in _ways(command, tuple(warm_up.get("libraries", ())), problems):
        zygotes = ZygotePool(launch, warm_up, jobs)
        zygotes.start()
        meanwhile()
        for level in levels:
            try:
                escapes = probe(zygotes, level)
            except ZygoteError as error:
                escapes = [str(error)]
            if not escapes:
                return Isolation(level, f"{level}: {sentence}{_INNER[level]}", zygotes)
            problems.append(f"{level} does not hold here ({'; '.join(escapes)})")
        zygotes.close()
    raise IsolationError("; ".join(problems))


_INNER = {
    "L3": "namespaces of its own for each submission, Landlock, seccomp and limits",
    "L2": "Landlock, seccomp and limits",
}


def _ways(
    command: Sequence[str] | None, libraries: tuple[str, ...], problems: list[str]
) -> Iterator[tuple[Launch | Sequence[str], str, tuple[str, ...]]]:
    """Yield the ways to start a zygote, each with its description and the levels to try; add why others fail."""
    if command:
        yield command, f"`{command[0]}`, ", ("L3", "L2")
        return
    if problem := bubblewrap_problem():
        problems.append(problem)
    else:
        yield Launch(outer=True, libraries=libraries), "bubblewrap, ", ("L3", "L2")
    yield Launch(outer=False, libraries=libraries), "", ("L2",)


def request(layers: tuple[str, ...]) -> dict[str, Any]:
    """Return the request to a zygote for a worker with these layers."""
    return {"layers": list(layers), "cpu_seconds": CPU_SECONDS}


def probe(zygotes: ZygotePool, level: str, layers: tuple[str, ...] | None = None) -> list[str]:
    """Let canaries try what a worker must not be able to do at a level; return a sentence for each that succeeded.

    `layers` are those the worker applies, if not all of the level's. Raises `ZygoteError` if no worker can be forked.
    """
    zygote = zygotes.some()
    private = "namespaces" in LAYERS[level]
    with _bait() as bait:
        bait |= {"zygote": zygote.facts["pid"], "private": private}
        outcomes = run_canaries(zygote, LAYERS[level] if layers is None else layers, bait)
    return [f"{name}: {outcome}" for name, outcome in outcomes.items() if outcome]


def run_canaries(zygote: Zygote, layers: tuple[str, ...], bait: Mapping[str, Any]) -> dict[str, str]:
    """Return the outcome of each canary, or that there was no answer; raises `ZygoteError`."""
    child = zygote.fork({**request(layers), "canaries": dict(bait)})
    try:
        event = _answer(child)
        outcomes = event.get("outcomes") if isinstance(event, dict) else None
        if not isinstance(outcomes, dict) or not outcomes:
            log = os.read(child.log.fileno(), 1 << 12).decode("utf-8", "replace").strip()
            return {"worker": f"no answer ({log or 'and no output'})"}
        return {str(name): str(outcome) for name, outcome in outcomes.items()}
    finally:
        child.close()
        child.wait(CANARY_SECONDS)
        if not zygote.alive:
            raise ZygoteError("the zygote did not survive its canaries")


def _answer(child: ForkedWorker) -> Value:
    timer = threading.Timer(CANARY_SECONDS, child.kill)
    timer.start()
    try:
        return read_frame(lambda size: os.read(child.answers.fileno(), size), Limits())
    except (ProtocolError, OSError):
        return None
    finally:
        timer.cancel()


@contextmanager
def _bait() -> Iterator[dict[str, Any]]:
    """Plant what canaries look for: a readable file of the judge, and a server on this machine."""
    with (
        ending.temporary(lambda: Path(tempfile.mkdtemp(prefix="course-"))) as folder,
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener,
    ):
        secret = folder / "secret"
        secret.write_bytes(b"the judge's own")
        folder.chmod(0o755)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield {
            "secret": str(secret),
            "folder": str(folder),
            "hidden": HIDDEN,
            "scratch": SCRATCH,
            "scratch_mib": SCRATCH_MIB,
            "port": listener.getsockname()[1],
            "cpu_seconds": CPU_SECONDS,
        }
        listener.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            listener.accept()[0].close()
            raise ZygoteError("a canary reached a server on this machine")
