"""What a run of a program is: its plan, its outcomes, and the ways in which it can fail to take place."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.checks.trials import Key
from autograder.runner.outcomes import Outcome, Survey
from autograder.runner.traces import Trace


class EnvironmentProblem(Exception):
    """This machine cannot run the checks; the message says what to do."""


class GraderProblem(Exception):
    """The kit itself failed; never the student's fault."""


class Cancelled(Exception):
    """A run was given up: nobody waits for it any more."""


@dataclass
class Run:
    """The outcomes of one program, by exercise and trial; `problem` says why there are none."""

    outcomes: dict[str, dict[Key, Outcome]] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    traces: dict[str, dict[Key, Trace]] = field(default_factory=dict)
    log: str = ""
    problem: str | None = None

    def put(self, exercise: str, key: Key, outcome: Outcome) -> None:
        self.outcomes.setdefault(exercise, {})[key] = outcome


Plan = dict[str, list[Key]]
Where = tuple[str, Key | None]


Parts = Mapping[str, Collection[str]]
"""The earlier exercises, by exercise, that a reference part can take the place of when it is run again."""

Surveyor = Callable[[str, Mapping[str, Any]], Survey]
"""What is known of the file of an exercise, or else what an event tells of it."""
