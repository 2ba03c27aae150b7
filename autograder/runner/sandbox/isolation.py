"""How far this machine confines a submission: the level is what canaries have shown, not what was asked for."""

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
from autograder.runner.child import Child, Spawned
from autograder.runner.sandbox.forked import Forked
from autograder.runner.sandbox.launch import HIDDEN, SCRATCH, SCRATCH_MIB, Launch, bubblewrap_problem
from autograder.runner.sandbox.zygotes import Zygote, ZygoteError, Zygotes

LAYERS: Mapping[str, tuple[str, ...]] = {
    "L3": ("session", "descriptors", "namespaces", "limits", "landlock", "privileges", "seccomp"),
    "L2": ("session", "descriptors", "limits", "landlock", "privileges", "seccomp"),
}
"""What a child gives up at each level; L1 is a container without these, L0 a plain process."""

CPU_SECONDS = 120
"""The most CPU time one child may use for all its checks."""

CANARY_SECONDS = 30.0


class IsolationError(Exception):
    """This machine cannot confine submissions; the message says why and what to do."""


@dataclass(frozen=True)
class Isolation:
    """A level, and how workers are started at it. `sentence` says it to people."""

    level: str
    sentence: str
    zygotes: Zygotes | None = None

    @property
    def name(self) -> str:
        """The word of the report: `sandbox` or `process`."""
        return "sandbox" if self.confined else "process"

    @property
    def confined(self) -> bool:
        """Whether submissions nobody can trust may be run."""
        return self.zygotes is not None

    def start(self) -> Child:
        """Start a worker; raises `ZygoteError`."""
        if self.zygotes is None:
            return Spawned()
        return self.zygotes.fork(request(LAYERS[self.level]))

    def expect(self, workers: int) -> None:
        """Hear that so many workers are to be started: for many, what they are made from is put in better order."""
        if self.zygotes is not None:
            self.zygotes.expect(workers)

    def close(self) -> None:
        """Let every zygote go."""
        if self.zygotes is not None:
            self.zygotes.close()

    def __enter__(self) -> "Isolation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def process_isolation() -> Isolation:
    """Return what every machine has: a fresh process for each submission, which sees what its user sees."""
    level = "L1" if Path("/.dockerenv").exists() or "container" in os.environ else "L0"
    return Isolation(level, f"{level}: a process for each submission, which sees what you see")


def open_isolation(
    warm_up: Value, jobs: int, command: Sequence[str] | None = None, meanwhile: Callable[[], None] = lambda: None
) -> Isolation:
    """Return the highest level that holds here, proved by canaries. Raises `IsolationError` where that is below L2.

    `command` starts a relay in a sandbox of another kind, a container perhaps; else bubblewrap is the outer wall.
    `meanwhile` is called while the zygotes load torch.
    """
    problems: list[str] = []
    for launch, sentence, levels in _ways(command, problems):
        zygotes = Zygotes(launch, warm_up, jobs)
        zygotes.start()
        meanwhile()
        for level in levels:
            try:
                through = probe(zygotes, level)
            except ZygoteError as error:
                through = [str(error)]
            if not through:
                return Isolation(level, f"{level}: {sentence}{_INNER[level]}", zygotes)
            problems.append(f"{level} does not hold here ({'; '.join(through)})")
        zygotes.close()
    raise IsolationError("; ".join(problems))


_INNER = {
    "L3": "namespaces of its own for each submission, Landlock, seccomp and limits",
    "L2": "Landlock, seccomp and limits",
}


def _ways(
    command: Sequence[str] | None, problems: list[str]
) -> Iterator[tuple[Launch | Sequence[str], str, tuple[str, ...]]]:
    """Yield the ways to start a zygote, what is said of each, and the levels to try; say why others are none."""
    if command:
        yield command, f"`{command[0]}`, ", ("L3", "L2")
        return
    if without := bubblewrap_problem():
        problems.append(without)
    else:
        yield Launch(outer=True), "bubblewrap, ", ("L3", "L2")
    yield Launch(outer=False), "", ("L2",)


def request(layers: tuple[str, ...]) -> dict[str, Any]:
    """Return what a zygote is asked for."""
    return {"layers": list(layers), "cpu_seconds": CPU_SECONDS}


def probe(zygotes: Zygotes, level: str, layers: tuple[str, ...] | None = None) -> list[str]:
    """Let canaries try what a child must not be able to do at a level; return what got through, in words.

    `layers` are those it puts on, if they are not all of the level's. Raises `ZygoteError` where no child can be had.
    """
    zygote = zygotes.some()
    private = "namespaces" in LAYERS[level]
    with _planted() as planted:
        planted |= {"zygote": zygote.facts["pid"], "private": private}
        told = sing(zygote, LAYERS[level] if layers is None else layers, planted)
    return [f"{name}: {outcome}" for name, outcome in told.items() if outcome]


def sing(zygote: Zygote, layers: tuple[str, ...], planted: Mapping[str, Any]) -> dict[str, str]:
    """Return what each canary told, or that there was no answer; raises `ZygoteError`."""
    child = zygote.fork({**request(layers), "canaries": dict(planted)})
    try:
        event = _answer(child)
        told = event.get("told") if isinstance(event, dict) else None
        if not isinstance(told, dict) or not told:
            said = os.read(child.log.fileno(), 1 << 12).decode("utf-8", "replace").strip()
            return {"child": f"no answer ({said or 'and nothing said'})"}
        return {str(name): str(outcome) for name, outcome in told.items()}
    finally:
        child.close()
        child.wait(CANARY_SECONDS)
        if not zygote.alive:
            raise ZygoteError("the zygote did not survive its canaries")


def _answer(child: Forked) -> Value:
    timer = threading.Timer(CANARY_SECONDS, child.kill)
    timer.start()
    try:
        return read_frame(lambda size: os.read(child.answers.fileno(), size), Limits())
    except (ProtocolError, OSError):
        return None
    finally:
        timer.cancel()


@contextmanager
def _planted() -> Iterator[dict[str, Any]]:
    """Plant what canaries look for: a readable file of the judge's, and somebody who listens."""
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
