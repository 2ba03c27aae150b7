"""Rounds what a solution returns in float64 to float32, as every answer key holds it.

So the same numbers judge a program in a course and in a kit, whose key must be small. A number is changed by at most
6e-8 of itself; right programs differ by more in float32, and judges allow 1e-6 and more.
"""

from autograder.checks import Judge, Like, Same
from autograder.comparison.arrays import as_array, numbers, special, wrong
from autograder.comparison.compare import Expected
from autograder.comparison.tolerances import is_close, is_floating
from autograder.protocol import Array, Value

OTHERWISE_DRAWN = 0.05
"""Two observations that differ by more differ by other random numbers: rounding to bfloat16 changes less than this."""

SMALLEST_TOLERANCE = 1e-6
"""A check that allows less gets the numbers as they are, and so does a judge of the course's own."""


def rounded(nominal: Value, exact: Value, judge: Judge) -> Expected:
    """Return what is expected, with the numbers of both observations rounded alike."""
    strict = isinstance(judge, Same | Like) and judge.tolerance is not None and judge.tolerance < SMALLEST_TOLERANCE
    short = exact if strict or callable(judge) else _short(exact)
    return Expected(_from_exact(nominal, short), short)


def keep_draws(nominal: Value, exact: Value) -> Value:
    """Return the exact observation, but the nominal one where the two differ by more than rounding.

    `exact` was computed on the CPU, and the device of `nominal` draws other random numbers.
    """
    if isinstance(nominal, dict) and isinstance(exact, dict) and nominal.keys() == exact.keys():
        return {name: keep_draws(part, exact[name]) for name, part in nominal.items()}
    if isinstance(nominal, list) and isinstance(exact, list) and len(nominal) == len(exact):
        return [keep_draws(*pair) for pair in zip(nominal, exact, strict=True)]
    if isinstance(nominal, Array) and isinstance(exact, Array) and nominal.shape == exact.shape:
        return nominal if wrong(numbers(nominal), numbers(exact), OTHERWISE_DRAWN).any() else exact
    if isinstance(nominal, float) and isinstance(exact, float):
        return exact if is_close(nominal, exact, OTHERWISE_DRAWN) else nominal
    return exact if nominal == exact else nominal


def _short(value: Value) -> Value:
    """Return a value with its float64 arrays as float32, where every number stays finite, infinite, zero or NaN."""
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_short(part) for part in value]
    if not isinstance(value, Array) or value.dtype != "float64":
        return value
    long, short = numbers(value), as_array(numbers(value), "float32", value.device)
    same = (special(numbers(short)) == special(long)) & ((numbers(short) == 0) == (long == 0))
    return short if same.all() else value


def _from_exact(nominal: Value, exact: Value) -> Value:
    """Return the nominal observation with the exact numbers, so that a kit needs them once only."""
    if isinstance(nominal, dict) and isinstance(exact, dict) and nominal.keys() == exact.keys():
        return {name: _from_exact(part, exact[name]) for name, part in nominal.items()}
    if isinstance(nominal, list) and isinstance(exact, list) and len(nominal) == len(exact):
        return [_from_exact(*pair) for pair in zip(nominal, exact, strict=True)]
    if isinstance(nominal, float) and isinstance(exact, float):
        return exact
    if not isinstance(nominal, Array) or not isinstance(exact, Array) or nominal.shape != exact.shape:
        return nominal
    if not is_floating(nominal):
        return nominal
    made = as_array(numbers(exact), nominal.dtype, nominal.device)
    return made if (special(numbers(made)) == special(numbers(nominal))).all() else nominal
