"""Measure two programs alternately, so that other load on the machine affects both."""

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil


def beside(run: Callable[[], None], other: Callable[[], float], every: float = math.inf) -> tuple[float, list[float]]:
    """Return the seconds of `run`, and the results of `other`: every `every` seconds, in a pause, and at the end.

    `run` gets a process of its own. Pauses, in which all of its processes are stopped, are not counted.
    """
    seconds, results = 0.0, []
    running = multiprocessing.get_context("fork").Process(target=run)
    running.start()
    assert running.pid is not None
    try:
        while True:
            started = time.perf_counter()
            running.join(None if math.isinf(every) else every)
            seconds += time.perf_counter() - started
            if running.exitcode is not None:
                break
            with paused(running.pid):
                results.append(other())
    except BaseException:
        with suppress(psutil.NoSuchProcess):
            for child in _family(running.pid):
                _send(child.kill)
        raise
    if running.exitcode != 0:
        raise SystemExit(f"a run ended with exit status {running.exitcode}")
    return seconds, results or [other()]


@contextmanager
def paused(process: int) -> Iterator[None]:
    """Stop a process and its descendants, parents first, so that no new ones appear."""
    stopped: list[psutil.Process] = []
    while found := [child for child in _family(process) if child not in stopped]:
        for child in found:
            _send(child.suspend)
        stopped += found
    try:
        yield
    finally:
        for child in reversed(stopped):
            _send(child.resume)


def _family(process: int) -> list[psutil.Process]:
    top = psutil.Process(process)
    return [top, *top.children(recursive=True)]


def _send(signal: Callable[[], None]) -> None:
    with suppress(psutil.NoSuchProcess):
        signal()
