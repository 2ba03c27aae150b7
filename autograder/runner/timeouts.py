"""Time-outs for one submission: a hang in every exercise costs about a minute of a grader's slot in all.

Each time-out shortens the later ones. Nearly all correct checks of the course take less than 0.1 s, so the marks of an
exercise do not depend on what the other exercises do. Two checks take up to 0.9 s on a busy machine: a submission that
times out more than five times elsewhere may lose them.
"""

from dataclasses import dataclass, replace

from autograder.course import Limits

SHORT_SECONDS = 1.0
"""The time-out of a check after two others."""

LATER_SECONDS = 0.4
"""The time-out from the sixth on, so that a hang in each of 28 exercises costs less than a minute in all."""

EDITED_SECONDS = 0.25
"""A trial of an edited program may take this long: most right ones take less than 0.1 s."""

EDITED_WAITS = 3
"""It may take this many times as long as the slowest trial before the edit, if that is longer."""

EDITED_SHARE = 0.8
"""The largest share of a check's time-out after which it is interrupted, so that its worker lives on."""

FEW = 5
"""After so many time-outs a submission hangs on purpose, or everywhere."""

MOST_DEATHS = 2
"""How many checks of a function may end the process before its other checks are not run; one after a few time-outs."""

IMPORT_WAITS = 2
"""An import may take this many times as long: its first time-out ends the exercise, a check's only the second."""

FUNCTION_WAITS = 5
"""All checks of a function together may take this many times as long. Those of the slowest exercise take 0.4 s."""

PATIENCE = 4
"""How many times as long a program of the course itself may take: the machine may be busy while a course is proved."""

ACCELERATOR_WAITS = 8
"""How many times as long a program on an accelerator may take: small tensors take five times as long on an H100 as on a
CPU, and the first call loads a library.
"""


@dataclass
class Timeouts:
    """The time-outs of one submission: first its limit, then a third of it, then one second, and less after a few.

    Only imports that time out shorten the time of later imports: a library that draws may take seconds to load.
    `careful` is set when a worker died and the judge did not know in which check: from then on each is announced.
    A trial that takes longer than `interrupt_seconds` raises TimeoutError, so that its worker lives on.
    """

    limits: Limits
    timeouts: int = 0
    imports: int = 0
    careful: bool = False
    interrupt_seconds: float | None = None

    def time_out(self, *, importing: bool = False) -> None:
        """Record that a check, an import or all checks of a function took too long."""
        self.timeouts += 1
        self.imports += importing
        self.careful = True

    @property
    def of_job(self) -> dict[str, float | None]:
        """Return what a worker has to know."""
        return {"careful": self.careful, "interrupt_seconds": self.interrupt_seconds}

    @property
    def check_seconds(self) -> float:
        """Return how long a run of a check may take."""
        return self._seconds_after(self.timeouts)

    @property
    def import_seconds(self) -> float:
        """Return how long the import of an exercise may take."""
        shortest = IMPORT_WAITS * _short(self.imports)
        return min(self.limits.wall_seconds, max(self._seconds_after(self.imports), shortest))

    @property
    def function_seconds(self) -> float:
        """Return how long all checks of a function may take together, without those that time out."""
        return max(self.check_seconds, FUNCTION_WAITS * _short(self.timeouts))

    @property
    def most_deaths(self) -> int:
        """Return how many checks of a function may end the process before its other checks are not run."""
        return MOST_DEATHS if self.timeouts <= FEW else 1

    def _seconds_after(self, timeouts: int) -> float:
        wall = self.limits.wall_seconds
        return min(wall, (wall, max(wall / 3, SHORT_SECONDS), _short(timeouts))[min(timeouts, 2)])


def _short(timeouts: int) -> float:
    return SHORT_SECONDS if timeouts <= FEW else LATER_SECONDS


def on_device(limits: Limits, device: str) -> Limits:
    """Return the limits of a course, with more time on an accelerator."""
    if device == "cpu":
        return limits
    times = ACCELERATOR_WAITS
    return replace(limits, cpu_seconds=times * limits.cpu_seconds, wall_seconds=times * limits.wall_seconds)


def of_edited(limits: Limits, seconds: float) -> Timeouts:
    """Return the time-outs of an edited program, whose slowest trial took so long before: many hang."""
    patience = Timeouts(limits, timeouts=1)
    wanted = max(EDITED_SECONDS, EDITED_WAITS * seconds)
    patience.interrupt_seconds = min(wanted, EDITED_SHARE * patience.check_seconds)
    return patience


def of_own_programs(limits: Limits) -> Timeouts:
    """Return the time-outs of a program that proves the course."""
    return Timeouts(replace(limits, wall_seconds=PATIENCE * limits.wall_seconds))
