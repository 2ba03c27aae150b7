"""The processor time of naming a wrong result, beside that of `numpy.testing.assert_allclose` for the same numbers.

    python -m benchmarks.naming

Each wrong array of the tests' zoo is described in both ways in turn, so that both meet the same load.
"""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from autograder.diagnosis import Trial, of_difference
from tests.support.observations import CHECK, trials_of
from tests.support.zoo import ZOO, TrialNumbers

ROUNDS = 5


def main() -> None:
    """Measure every wrong result, and print the figures of both ways and their ratio."""
    ours, theirs = [], []
    for wrong in ZOO:
        pairs = [wrong.make(TrialNumbers(number, wrong.name)) for number in range(2)]
        if not all(isinstance(array, np.ndarray) for pair in pairs for array in pair):
            continue
        rounds = [(seconds(name, trials_of(wrong)), seconds(describe, pairs)) for _ in range(ROUNDS)]
        ours.append(median(naming for naming, _ in rounds))
        theirs.append(median(describing for _, describing in rounds))
    print(f"{len(ours)} wrong arrays, the median of {ROUNDS} rounds each, milliseconds of processor time")
    for way, taken in (("naming", ours), ("assert_allclose", theirs)):
        print(f"{way:16}median {1000 * median(taken):7.2f}, slowest {1000 * max(taken):7.2f}")
    print(f"naming takes {sum(ours) / sum(theirs):.1f} times as long")


def seconds(describes: Callable[[list[Any]], None], what: list[Any]) -> float:
    """Return the processor time of a description."""
    started = time.process_time()
    describes(what)
    return time.process_time() - started


def name(trials: Sequence[Trial]) -> None:
    """Say what is wrong as the judge does."""
    of_difference(CHECK, trials, evidence=True)


def describe(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Say what is wrong as NumPy does."""
    for yours, expected in pairs:
        try:
            np.testing.assert_allclose(yours, expected, rtol=1e-5)
        except AssertionError as error:
            str(error)


if __name__ == "__main__":
    main()
