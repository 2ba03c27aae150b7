"""Detects numbers that are almost right: of a coarser dtype, or of a formula near to the expected one."""

from collections.abc import Iterator

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.pattern import Pattern, Sample
from autograder.messages.special import NearlyRight, Rounded

_NEAR = 2e-3
"""Relative; a wrong constant such as eps changes less, another formula more."""

_COARSE = {"float16": 2e-3, "bfloat16": 2e-2}
"""The largest relative rounding of each dtype, added up over a few operations."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield why numbers are near to the expected ones and not equal."""
    if case.is_whole or not case.finite or case.expected.size <= FEW or case.dtypes[1] not in ("float32", "float64"):
        return
    if not (case.wrong & (case.expected != 0)).any():
        return
    size = float(np.linalg.norm(case.expected))
    off = float(np.linalg.norm(case.yours - case.expected)) / size if size else np.inf
    most = float(np.abs(case.yours - case.expected).max() / max(np.abs(case.expected).max(), 1e-30))
    sample = Sample(row=("largest difference", "0", f"{most:.2g} of the largest"), has_map=False)
    for dtype, bound in _COARSE.items():
        if off < bound and _fits(case.yours, dtype) and not _fits(case.expected, dtype):
            yield Pattern(Rounded(dtype, case.dtypes[1]), sample)
            return
    # The norm is small if one number of many is wrong, which is another mistake.
    if off < _NEAR and most < 10 * _NEAR:
        yield Pattern(NearlyRight(most), sample)


def _fits(array: Numbers, dtype: str) -> bool:
    """Whether every number can be written in that dtype."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return bool((array.astype(np.float16) == array).all())
    # A bfloat16 is a float32 whose lower 16 bits are 0.
    single = array.astype(np.float32)
    return bool((single == array).all() and not (single.view(np.uint32) & 0xFFFF).any())
