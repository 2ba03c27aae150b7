"""The training loop of translate and write: live figures, checkpoints, and resuming."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from torch import nn, optim

from autograder.course.names import UsageError
from autograder.learner.play.checkpoint import rng_states, set_rng_states
from autograder.learner.play.live import Row
from autograder.learner.play.stage import Stage

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


def check_sizes(options: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Raise `UsageError` if these options make no model; `least` has the least value of each."""
    for name, expected in least.items():
        if options[name] < expected:
            raise UsageError(f"--{name} is {options[name]:,}, expected {expected:,} or more")
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


def train(
    stage: Stage,
    model: nn.Module,
    optimizer: optim.Optimizer,
    *,
    steps: int,
    sizes: Mapping[str, int | float | str],
    kept: Mapping[str, Any] | None,
    more: Mapping[str, Any],
    rate: Callable[[int], float],
    update: Callable[[int], tuple[float, int]],
    samples: Callable[[], Sequence[Row]],
    unit: str,
) -> float:
    """Train up to so many steps, and return the seconds it took, including those before a stop.

    `kept` is the checkpoint of an earlier run, `more` what a checkpoint has beside model and optimizer. `rate` returns
    the learning rate of a step, counted from 1. `update` makes a step, and returns its loss and how many of a `unit`
    it used.
    """
    step, before = 0, 0.0
    if kept is not None:
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        set_rng_states(kept["rng"], stage.device)
        step, before = int(kept["step"]), float(kept["seconds"])
        stage.print(f"Resuming after step {step:,}.")
    started = saved = time.monotonic()

    def save() -> None:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": rng_states(stage.device)}
        seconds = before + time.monotonic() - started
        wrong = [list(fault) for fault in stage.faults]
        stage.checkpoint.save({**more, **state, "wrong": wrong, "step": step, "seconds": seconds}, sizes)

    mean, seen = None, 0
    report = max(1, steps // REPORTS)
    with stage.live(steps) as live:
        while step < steps:
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = rate(step)
            loss, count = update(step)
            mean = loss if mean is None else 0.95 * mean + 0.05 * loss
            seen += count
            figures = {
                "loss": f"{mean:.4f}",
                "learning rate": f"{rate(step):.6f}",
                f"{unit} a second": f"{seen / max(time.monotonic() - started, 1e-9):,.0f}",
            }
            rows = samples() if step % report == 0 or step == steps else None
            live.show(step, figures, curve=loss, rows=rows)
            stopping = stage.stop.is_set() and step < steps
            if stopping or step == steps or time.monotonic() - saved > SAVE_SECONDS:
                save()
                saved = time.monotonic()
            if stopping:
                break
    if step < steps:
        stage.stopped()
    return before + time.monotonic() - started
