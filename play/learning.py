"""The loop that translate and write share: live figures, checkpoints, and going on where it was."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn, optim

from autograder.course.names import UsageError
from autograder.learner.play.checkpoint import rng_states, set_rng_states
from autograder.learner.play.live import Row
from autograder.learner.play.stage import Stage

KEPT_SECONDS = 20.0
"""How often a checkpoint is written, at the most."""

REPORTS = 12
"""How often samples are made, in a whole training."""


LOOKED_AT = {"width": 128, "heads": 4, "blocks": 2}
"""The sizes of the model that is looked at before a training, whatever is asked for: these learn a batch in no time."""


def initialized(model: nn.Module) -> nn.Module:
    """Return the model with all its matrices drawn as Glorot and Bengio did; by their shape, not by their names."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    return model


def adam(model: nn.Module, rate: float = 1e-3) -> optim.Adam:
    """Return the optimizer of the paper (Vaswani et al. 2017, section 5.3)."""
    return optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9)


def check_sizes(options: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Raise `UsageError` where these options make no model; `least` is what they may be at the least."""
    for name, expected in least.items():
        if options[name] < expected:
            raise UsageError(f"--{name} is {options[name]:,}, expected {expected:,} or more")
    if options["width"] % options["heads"]:
        raise UsageError(f"--width is {options['width']}, expected a multiple of --heads {options['heads']}")


def kept_before(stage: Stage, sizes: Mapping[str, int | float | str]) -> dict[str, Any] | None:
    """Return the checkpoint of an earlier run, None where there is none; what was wrong then is wrong still.

    Raises `CheckpointError` where it is of other code, another seed or other sizes.
    """
    kept = stage.checkpoint.load(sizes)
    for exercise, message in kept.get("wrong", ()) if kept is not None else ():
        if (exercise, message) not in stage.faults:
            stage.faults.append((exercise, message))
    return kept


def learn(
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
    """Train up to so many steps, and return the seconds it took, those before a stop included.

    `kept` is what an earlier run left, `more` what its checkpoint holds beside model and optimizer. `rate` is the
    learning rate of a step, counted from 1; `update` makes one, and returns its loss and how many of a `unit` it saw.
    """
    step, before = 0, 0.0
    if kept is not None:
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        set_rng_states(kept["rng"], stage.device)
        step, before = int(kept["step"]), float(kept["seconds"])
        stage.print(f"Going on after step {step:,}.")
    started = saved = time.monotonic()

    def save() -> None:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": rng_states(stage.device)}
        seconds = before + time.monotonic() - started
        wrong = [list(each) for each in stage.faults]
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
            if stopping or step == steps or time.monotonic() - saved > KEPT_SECONDS:
                save()
                saved = time.monotonic()
            if stopping:
                break
    if step < steps:
        stage.stopped()
    return before + time.monotonic() - started
