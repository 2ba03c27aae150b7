"""Almost right: computed in a coarser dtype, or by a formula that is near to the expected one."""

from collections.abc import Iterator

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.pattern import Pattern, Shown

_NEAR = 2e-3
_COARSE = {"float16": 2e-3, "bfloat16": 2e-2}


def detect(case: Case) -> Iterator[Pattern]:
    """Yield why numbers are near to the expected ones and yet not they."""
    if case.is_whole or not case.finite or case.expected.size <= FEW or case.dtypes[1] not in ("float32", "float64"):
        return
    if not (case.wrong & (case.expected != 0)).any():
        return
    size = float(np.linalg.norm(case.expected))
    off = float(np.linalg.norm(case.yours - case.expected)) / size if size else np.inf
    most = float(np.abs(case.yours - case.expected).max() / max(np.abs(case.expected).max(), 1e-30))
    shown = Shown(row=("largest difference", "0", f"{most:.2g} of the largest"), map=False)
    for dtype, bound in _COARSE.items():
        if off < bound and _fits(case.yours, dtype) and not _fits(case.expected, dtype):
            phrase = f"right up to the rounding of {dtype}, expected that of {case.dtypes[1]}"
            question = "Where does a tensor become coarser on the way, or is made in a dtype of its own?"
            yield Pattern(f"precise-as-{dtype}", phrase, detail=question, shown=shown)
            return
    if off < _NEAR and most < 10 * _NEAR:
        phrase = f"near, but not equal: off by at most {most:.2g} of the largest number"
        question = (
            "Rounding is less than this. Is a small constant elsewhere, a formula approximate, or a small term wrong?"
        )
        yield Pattern("near", phrase, detail=question, shown=shown)


def _fits(array: Numbers, dtype: str) -> bool:
    """Whether every number can be written in that dtype."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return bool((array.astype(np.float16) == array).all())
    single = array.astype(np.float32)
    return bool((single == array).all() and not (single.view(np.uint32) & 0xFFFF).any())
