"""Detects what happened to the values in another dtype: cut to integers, or a mask of numbers."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import Case, are_bits, close
from autograder.diagnosis.patterns.pattern import NO_MAP, Pattern
from autograder.messages.special import CutToWhole, MaskAsNumbers


def detect(case: Case) -> Iterator[Pattern]:
    """Yield what the other dtype did to the values; nothing where they are simply right or simply wrong."""
    yours, expected = case.dtypes
    if case.yours.shape != case.expected.shape or not case.expected.size or yours == expected:
        return
    if expected == "bool" and are_bits(case.yours):
        if np.array_equal(case.yours, case.expected):
            yield Pattern(MaskAsNumbers(False, yours), NO_MAP)
        elif np.array_equal(1 - case.yours, case.expected):
            yield Pattern(MaskAsNumbers(True, yours), NO_MAP)
    elif "int" in yours and "float" in expected and not close(case.yours, case.expected, case.tau):
        for how, cut in (("cut", np.trunc), ("rounded", np.round), ("rounded down", np.floor)):
            if case.values > 2 and np.array_equal(case.yours, cut(case.expected)):
                yield Pattern(CutToWhole(how, yours, expected), NO_MAP)
                return
