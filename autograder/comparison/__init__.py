"""Compares an observation with what is expected."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .compare import (
        CHANGED_INPUT,
        ONLY_SOME_SIZES,
        Difference,
        Expected,
        described,
        differences,
        differing_values,
        is_close,
        is_floating,
        judge_observation,
        other_number,
        other_shape,
        passes,
        with_parts,
    )
    from .float_arrays import (
        ArraySketch,
        Numbers,
        Sketch,
        Sums,
        as_array,
        fingerprint,
        is_raised_alike,
        is_same,
        numbers,
        sketch,
        special,
        step_of,
        sums_of,
        wrong,
    )

__getattr__ = face(__name__)
