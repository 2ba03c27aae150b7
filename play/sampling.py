"""The options of sampling that can change between two prompts."""

from collections.abc import Mapping
from typing import Any

from autograder.course import UsageError
from autograder.play import Stage

SAMPLING = {"temperature": 0.0, "top-p": 0.0, "top-k": 0, "length": 1}
"""The least value of each option."""


def checked(sampling: Mapping[str, Any]) -> dict[str, float]:
    """Return the options as numbers. Raises `UsageError` for one that is out of range."""
    for name, value in sampling.items():
        if not float(value) >= SAMPLING[name] or float(value) == float("inf"):
            raise UsageError(f"{name} is {float(value):g}, expected {SAMPLING[name]:g} or more")
        if name in ("top-k", "length") and float(value) != int(float(value)):
            raise UsageError(f"{name} is {float(value):g}, expected a whole number")
    if float(sampling["top-p"]) > 1:
        raise UsageError(f"top-p is {float(sampling['top-p']):g}, expected a share from 0 to 1")
    return {name: float(value) for name, value in sampling.items()}


def changed(stage: Stage, sampling: Mapping[str, float], line: str) -> dict[str, float] | None:
    """Return the options after a line such as `top-p 0.9`, and print them; None for any other line."""
    name, _, value = line.partition(" ")
    if name not in sampling or not _is_number(value):
        return None
    try:
        now = checked({**sampling, name: float(value)})
    except UsageError as error:
        stage.print(f"{error}.")
        return dict(sampling)
    stage.print(", ".join(f"{option} {number:g}" for option, number in now.items()))
    return now


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
