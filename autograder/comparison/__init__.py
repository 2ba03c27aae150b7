"""Compares an observation with what is expected."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .compare import Difference, Expected, is_close, is_floating, judge_observation, passes
    from .facts import (
        CHANGED_INPUT,
        ONLY_SOME_SIZES,
        array,
        differing_values,
        other_number,
        other_shape,
    )
    from .float_arrays import Numbers, as_array, fingerprint, numbers, special, wrong
    from .sketches import ArraySketch, Sketch, Sums, is_raised_alike, is_same, sketch, step_of, sums_of

__getattr__ = face(__name__)
