"""The types of a run of a program: its plan, its outcomes, and the reasons why it may not take place."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from autograder.checks.trials import Key
from autograder.protocol.log_labels import sections
from autograder.runner.outcomes import Outcome, Survey

if TYPE_CHECKING:
    from autograder.runner.traces import Trace


class EnvironmentProblem(Exception):
    """This machine cannot run the checks; the message says what to do."""


class GraderProblem(Exception):
    """The kit itself failed, which is never the student's fault."""


class CourseProblem(GraderProblem):
    """A file that the course's author wrote is wrong; the message names it."""


class Cancelled(Exception):
    """A run was cancelled from another thread."""


MOST_LOG = 1 << 18
"""Characters of the output of all workers of a run."""

Prints = Mapping[Key | None, str]
"""What a program printed, by the trial that printed it; None stands for the import of the exercise."""


@dataclass
class Run:
    """The outcomes of one program, by exercise and trial; `problem` states why there are none.

    `prints` has what the exercises printed, if the run was to keep it, and `log` the whole output of the workers.
    """

    outcomes: dict[str, dict[Key, Outcome]] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    traces: dict[str, "dict[Key, Trace]"] = field(default_factory=dict)
    prints: dict[str, Prints] = field(default_factory=dict)
    log: str = ""
    problem: str | None = None

    def add_log(self, log: bytes, plan: "Plan") -> None:
        """Add the log of a job. What a trial printed replaces what it printed in an earlier job that died."""
        self.log = (self.log + log.decode("utf-8", "replace"))[:MOST_LOG]
        found: dict[str, dict[Key | None, list[str]]] = {}
        for section in sections(log):
            key = (section.check, section.trial) if section.check else None
            if section.exercise in plan and (key is None or key in plan[section.exercise]):
                found.setdefault(section.exercise, {}).setdefault(key, []).append(section.text)
        for exercise, texts in found.items():
            joined = {key: "".join(parts) for key, parts in texts.items()}  # a program may print many labels itself
            self.prints[exercise] = {**self.prints.get(exercise, {}), **joined}

    def put(self, exercise: str, key: Key, outcome: Outcome) -> None:
        self.outcomes.setdefault(exercise, {})[key] = outcome


Probes = Literal["checks", "pictures", "steps"]
"""What a plan names."""

Plan = dict[str, list[Key]]
Where = tuple[str, Key | None]
"""An exercise, and the trial of a check in it if one has begun."""

Parts = Mapping[str, Collection[str]]
"""By exercise, the earlier exercises that a reference part can replace when it runs again."""

Owners = Mapping[str, Mapping[str, str]]
"""By exercise and check, the function or class that the check is about."""

Surveyor = Callable[[str, Mapping[str, Any]], Survey]
"""Returns the survey of an exercise's file: a trusted one if there is one, else that of an event."""
