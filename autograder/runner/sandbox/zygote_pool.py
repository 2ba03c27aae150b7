"""A pool of zygotes: as many as there are jobs, each started, replaced and killed when it is time."""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from autograder.protocol import Value
from autograder.runner.sandbox.forked import ForkedWorker
from autograder.runner.sandbox.launch import Launch
from autograder.runner.sandbox.zygotes import Zygote, ZygoteError

MOST_CHILDREN = 1000
"""Children after which a zygote is replaced, so that leaks in the kernel or the allocator stay small."""

LONG_RUN = 16
"""Expected children from which on large pages are worth the time to make them."""


class ZygotePool:
    """As many zygotes as there are jobs, each made when needed. The one with the fewest children forks the next.

    On this machine they are split off a first zygote, which loads libraries for all. Behind a relay each starts by
    itself. In a long run the first zygote gets large pages while grading goes on, and the others are split off it anew.
    """

    def __init__(self, launch: Launch | Sequence[str], warm_up: Value, count: int) -> None:
        self._first = _Slot(partial(Zygote.start, launch, warm_up))
        if isinstance(launch, Launch):
            self._slots = [_Slot(self._split) for _ in range(count)]
        else:
            self._slots = [self._first, *(_Slot(partial(Zygote.start, launch, warm_up)) for _ in range(count - 1))]
        self._lock = threading.Lock()
        self._forks = itertools.count(1)
        self._large = self._first in self._slots

    def _split(self) -> Zygote:
        """Return a zygote split off the first. If that fails, it is replaced once; raises `ZygoteError`."""
        try:
            return self._first.zygote().split()
        except ZygoteError:
            return self._first.zygote().split()

    def start(self) -> None:
        """Start all of them, in threads of their own."""
        for slot in self._slots:
            threading.Thread(target=slot.start, daemon=True).start()

    def fork(self, layers: Mapping[str, Any]) -> ForkedWorker:
        """Return a new worker. A zygote that fails is replaced once; raises `ZygoteError`."""
        if next(self._forks) == LONG_RUN:
            self.expect(LONG_RUN)
        with self._slot() as slot:
            try:
                return slot.zygote().fork(layers)
            except ZygoteError:
                return slot.zygote().fork(layers)

    def expect(self, children: int) -> None:
        """Announce the expected number of forks; from `LONG_RUN` on, large pages are made."""
        with self._lock:
            enlarge = children >= LONG_RUN and not self._large
            self._large = self._large or enlarge
        if enlarge:
            threading.Thread(target=self._enlarge, daemon=True).start()

    def _enlarge(self) -> None:
        with contextlib.suppress(OSError, ZygoteError):  # small pages work as well
            for slot in self._slots:
                slot.zygote()
            self._first.zygote().enlarge()
            for slot in self._slots:
                slot.renew()

    def some(self) -> Zygote:
        """Return any running zygote; raises `ZygoteError`."""
        with self._slot() as slot:
            return slot.zygote()

    @contextlib.contextmanager
    def _slot(self) -> Iterator["_Slot"]:
        """Provide the least busy slot, and count the request as one of its own within the block."""
        with self._lock:
            slot = min(self._slots, key=lambda slot: slot.requests + slot.busy)
            slot.requests += 1
        try:
            yield slot
        finally:
            with self._lock:
                slot.requests -= 1

    def close(self) -> None:
        """Kill them all."""
        for slot in (*self._slots, self._first):
            slot.close()


class _Slot:
    """Holds a zygote, and replaces one that failed or is old. The old one is killed when its children have ended."""

    def __init__(self, make: Callable[[], Zygote]) -> None:
        self._make = make
        self.requests = 0
        self._current: Zygote | None = None
        self._retired: list[Zygote] = []
        self._lock = threading.Lock()
        self._closed = False

    @property
    def busy(self) -> int:
        return self._current.busy if self._current is not None else 0

    def start(self) -> None:
        """Start the zygote. If that fails, `zygote` tries again and raises the error."""
        with contextlib.suppress(OSError, ZygoteError):
            self.zygote()

    def zygote(self) -> Zygote:
        with self._lock:
            if self._closed:
                raise ZygoteError("the sandbox is closed")
            if self._current is not None and not (self._current.alive and self._current.forks < MOST_CHILDREN):
                self._retire()
            for idle in [zygote for zygote in self._retired if not zygote.busy]:
                self._retired.remove(idle)
                idle.close()
            if self._current is None:
                self._current = self._make()
            return self._current

    def renew(self) -> None:
        """Retire the zygote, so that the next request makes another."""
        with self._lock:
            self._retire()

    def _retire(self) -> None:
        if self._current is not None:
            self._retired.append(self._current)
            self._current = None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._retire()
            while self._retired:
                self._retired.pop().close()
