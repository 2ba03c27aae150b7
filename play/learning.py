"""The training loop of translate and write: live figures, checkpoints, and resuming."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from torch import nn, optim

from autograder.course import UsageError
from autograder.play import CheckpointError, Row, Stage, rng_states, set_rng_states

SAVE_SECONDS = 20.0
"""How often a checkpoint is saved: so much work is lost at most."""


class Schedule(TypedDict):
    """A learning rate: the steps of the warm-up, a factor, and the share of the steps in which it goes to 0."""

    warmup: int
    scale: float
    cooling: float


REPORTS = 12
"""How many times a whole training shows samples."""


EXAMINED_SIZES = {"width": 128, "heads": 4, "blocks": 2}
"""The sizes of the model that is examined before a training, whatever the options say: it learns a batch in seconds."""


def initialized(model: nn.Module) -> nn.Module:
    """Initialize all matrices of a model as Glorot and Bengio (2010) did; they are found by shape, not by name."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    return model


def adam(model: nn.Module, rate: float = 1e-3) -> optim.Adam:
    """Return the optimizer of the paper (Vaswani et al. 2017, section 5.3)."""
    return optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9)


def learning_rate(stage: Stage, step: int, steps: int, *, warmup: int, scale: float, cooling: float) -> float:
    """Return the learning rate of ex13 times `scale`, brought down to 0 in the last `cooling` share of the steps."""
    rate = stage.own("ex13_training").warmup_learning_rate(step, stage.options["width"], warmup)
    return float(rate) * scale * min(1.0, (steps + 1 - step) / (cooling * steps))


def print_faults(stage: Stage) -> None:
    """Print the exercises that were faulty when the model was trained."""
    for id_, message in stage.faults:
        exercise = stage.course.exercise(id_)
        stage.print(f"Trained although {exercise.number} {exercise.title} fails: {message}", "red")


def refusal(error: CheckpointError, activity: str) -> str:
    """Return why another activity cannot use the model of this one, and what to do."""
    instead = f"say {error.say}, or run" if error.say else "run"
    return f"{error.found}; {instead} `course play {activity} --fresh` first"


def check_least(options: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Raise `UsageError` if an option is below the least value that it may have."""
    for name, expected in least.items():
        if options[name] < expected:
            raise UsageError(f"--{name} is {options[name]:,}, expected {expected:,} or more")


def check_sizes(options: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Raise `UsageError` if these options make no model; `least` has the least value of each."""
    check_least(options, least)
    if options["width"] % options["heads"]:
        raise UsageError(f"--width is {options['width']}, expected a multiple of --heads {options['heads']}")


def load_checkpoint(stage: Stage, sizes: Mapping[str, int | float | str]) -> dict[str, Any] | None:
    """Return the checkpoint of an earlier run, or None. Faults that were known then are added to the stage.

    Raises `CheckpointError` if it is of other code, another seed or other sizes.
    """
    kept = stage.checkpoint.load(sizes)
    for exercise, message in kept.get("wrong", ()) if kept is not None else ():
        if (exercise, message) not in stage.faults:
            stage.faults.append((exercise, message))
    return kept


@dataclass
class Training:
    """A training of a model, with its checkpoints and its display.

    `more` is what a checkpoint has beside model and optimizer. `rate` returns the learning rate of a step, counted from
    1. `update` makes a step, and returns its loss and how many of a `unit` it used.
    """

    stage: Stage
    model: nn.Module
    optimizer: optim.Optimizer
    steps: int
    sizes: Mapping[str, int | float | str]
    more: Mapping[str, Any]
    rate: Callable[[int], float]
    update: Callable[[int], tuple[float, int]]
    samples: Callable[[], Sequence[Row]]
    unit: str
    _step: int = 0
    _earlier_seconds: float = 0.0
    _started: float = field(default_factory=time.monotonic)
    _saved: float = 0.0

    def run(self, kept: Mapping[str, Any] | None) -> float:
        """Train up to `steps`, or up to the key `q`; return the seconds it took, including those of an earlier run.

        `kept` is the checkpoint of an earlier run. Raises `Stopped` after a signal.
        """
        if kept is not None:
            self._resume(kept)
        self._started = self._saved = time.monotonic()
        mean, seen = None, 0
        stopping = False
        with self.stage.live(self.steps, stoppable=True) as live:
            while self._step < self.steps and not stopping:
                self._step += 1
                for group in self.optimizer.param_groups:
                    group["lr"] = self.rate(self._step)
                loss, count = self.update(self._step)
                mean = loss if mean is None else 0.95 * mean + 0.05 * loss  # one batch alone says little
                seen += count
                live.show(self._step, self._figures(mean, seen), curve=loss, rows=self._samples_if_due())
                stopping = (self.stage.stop.is_set() or live.enough) and self._step < self.steps
                if stopping or self._step == self.steps or time.monotonic() - self._saved > SAVE_SECONDS:
                    self._save()
        if self._step < self.steps:
            self._say_how_to_go_on(live.enough)
        return self._seconds()

    @property
    def step(self) -> int:
        """The steps that the model has learned from."""
        return self._step

    def _say_how_to_go_on(self, enough: bool) -> None:
        """Say how to continue an unfinished training. Raises `Stopped` if a signal ended it."""
        if not enough:
            self.stage.print(f"To use the model as it is now, add --steps {self._step}.")
            self.stage.stopped()
        left = f"Stopped after step {self._step:,} of {self.steps:,}."
        self.stage.print(f"{left} The same command continues the training. This is the model as it is now:")

    def _resume(self, kept: Mapping[str, Any]) -> None:
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        set_rng_states(kept["rng"], self.stage.device)
        self._step, self._earlier_seconds = int(kept["step"]), float(kept["seconds"])
        self.stage.print(f"Resuming after step {self._step:,}.")

    def _seconds(self) -> float:
        return self._earlier_seconds + time.monotonic() - self._started

    def _figures(self, loss: float, seen: int) -> dict[str, str]:
        per_second = seen / max(time.monotonic() - self._started, 1e-9)
        rate = self.rate(self._step)
        return {"loss": f"{loss:.4f}", "learning rate": f"{rate:.6f}", f"{self.unit} a second": f"{per_second:,.0f}"}

    def _samples_if_due(self) -> Sequence[Row] | None:
        due = self._step % max(1, self.steps // REPORTS) == 0 or self._step == self.steps
        return self.samples() if due else None

    def _save(self) -> None:
        weights = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        state = {"rng": rng_states(self.stage.device), "step": self._step, "seconds": self._seconds()}
        faults = [list(fault) for fault in self.stage.faults]
        self.stage.checkpoint.save({**self.more, **weights, **state, "wrong": faults}, self.sizes)
        self._saved = time.monotonic()


def save_figures(stage: Stage, sizes: Mapping[str, int | float | str], figures: Mapping[str, Any]) -> None:
    """Add the figures of a finished training to its checkpoint."""
    finished = stage.checkpoint.load(sizes) or {}
    stage.checkpoint.save({**finished, "figures": dict(figures)}, sizes)
