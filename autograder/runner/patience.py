"""How long a submission is waited for. Hangs in all of its exercises together take about a minute of a grader's slot.

Only time-outs make the waits shorter, and even the shortest is twenty times what the slowest right check of the course
takes. So an exercise gets the marks that it gets alone, whatever the others do.
"""

from dataclasses import dataclass

from autograder.course import Limits

SHORT_SECONDS = 1.0
"""The wait for a check after two time-outs. The slowest right check of the course takes 0.05 s of processor time."""

IMPORT_WAITS = 2
"""An import is waited for so many times as long: it ends an exercise at once, a check only the second time."""

EXERCISE_WAITS = 5
"""All checks of an exercise together may take so many times as long. Those of the slowest take 0.4 s."""


@dataclass
class Patience:
    """The waits for one submission: all of its limit, then a third of it, from the third time-out on a second.

    `careful` says that a worker has died and it was not known in which check: from then on each is announced.
    """

    limits: Limits
    timeouts: int = 0
    careful: bool = False

    def time_out(self) -> None:
        """Note that a check, an import or a whole exercise took too long."""
        self.timeouts += 1
        self.careful = True

    @property
    def check_seconds(self) -> float:
        """Return how long a run of a check may take."""
        wall = self.limits.wall_seconds
        return min(wall, (wall, max(wall / 3, SHORT_SECONDS), SHORT_SECONDS)[min(self.timeouts, 2)])

    @property
    def import_seconds(self) -> float:
        """Return how long the import of an exercise may take."""
        return min(self.limits.wall_seconds, max(self.check_seconds, IMPORT_WAITS * SHORT_SECONDS))

    @property
    def exercise_seconds(self) -> float:
        """Return how long all checks of an exercise together may take, those that time out left out."""
        return max(self.check_seconds, EXERCISE_WAITS * SHORT_SECONDS)
