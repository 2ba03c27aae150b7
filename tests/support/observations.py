"""Values as a worker observes them, trials of a check in which they were observed, and the finding of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.checks import Check, Same
from autograder.comparison import Expected
from autograder.comparison.compare import compare
from autograder.diagnosis import Axes, Source, Trial, finding_of, of_difference
from autograder.protocol import Array, Value
from autograder.results import Finding
from tests.support.zoo import COLUMNS, WORDS, TrialNumbers, Wrong

CHECK = Check("scaled", "a title", lambda *_: None, 1, Same(), None, 2)


def observed(value: Any, dtype: str | None = None) -> Value:
    """Return a value as a worker would observe it: numbers in float32 unless they are of another kind."""
    if isinstance(value, Mapping):
        return {name: observed(part, dtype) for name, part in value.items()}
    array = np.asarray(value)
    kind = dtype or {"b": "bool", "i": "int64"}.get(array.dtype.kind, "float32")
    with np.errstate(over="ignore"):
        data = array.astype(np.dtype(kind).newbyteorder("<"))
    return Array(kind, array.shape, data.tobytes())


def trial_of(yours: Any, expected: Any, number: int, dtype: str | None = None) -> Trial:
    """Return one trial of a check in which yours was observed."""
    exact = observed(expected) if np.asarray(expected).dtype.kind in "bi" else observed(expected, "float64")
    reference = Expected(observed(expected), exact)
    return Trial(compare(observed(yours, dtype), reference, Same()), Axes(COLUMNS[number], WORDS), reference.exact)


def trials_of(wrong: Wrong) -> list[Trial]:
    """Return two trials of a check in which a wrong result of the zoo was observed."""
    trials = []
    for number in range(2):
        yours, expected = wrong.make(TrialNumbers(number, wrong.name))
        dtype = "float64" if wrong.name == "another_dtype" else None
        trials.append(trial_of(yours, expected, number, dtype))
    return trials


def finding(trials: Sequence[Trial], check: Check = CHECK, *, evidence: bool = True) -> Finding:
    """Return the finding of a failed check."""
    return finding_of(of_difference(check, trials, evidence=evidence), Source("ex05_attention.py"))
