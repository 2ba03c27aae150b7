"""Another dtype: whether the values are right, cut to integers, or a mask of numbers."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import Case, are_bits, close
from autograder.diagnosis.patterns.pattern import Pattern, Shown

_NO_MAP = Shown(map=False)


def detect(case: Case) -> Iterator[Pattern]:
    """Yield what became of the values in their dtype; nothing where they are simply right or simply wrong."""
    yours, expected = case.dtypes
    if case.yours.shape != case.expected.shape or not case.expected.size or yours == expected:
        return
    both = f"{yours}, expected {expected}"
    if expected == "bool" and are_bits(case.yours):
        if np.array_equal(case.yours, case.expected):
            phrase = f"{both}; its 0 and 1 are right as false and true"
            yield Pattern("bits", phrase, detail="A comparison gives a mask of true and false.", shown=_NO_MAP)
        elif np.array_equal(1 - case.yours, case.expected):
            yield Pattern("bits-inverted", f"{both}; its 0 and 1 are exchanged as well", shown=_NO_MAP)
    elif "int" in yours and "float" in expected and not close(case.yours, case.expected, case.tau):
        for name, cut in (("cut", np.trunc), ("rounded", np.round), ("rounded down", np.floor)):
            if case.values > 2 and np.array_equal(case.yours, cut(case.expected)):
                question = "Is // used for /, or a number put into a tensor of integers?"
                yield Pattern("cut", f"{both}; the values are {name} to whole numbers", name, question, _NO_MAP)
                return
