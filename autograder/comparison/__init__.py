"""Compares an observation with what is expected."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .compare import Difference, Expected, is_close, is_floating, judge_observation, passes
    from .facts import (
        ONLY_SOME_SIZES,
        AxesExchanged,
        AxesOfOne,
        AxisExtra,
        AxisMissing,
        DropoutActive,
        End,
        FirstAxisExtra,
        FirstAxisMissing,
        InputChanged,
        LengthWrong,
        NotFinite,
        NumberDiffers,
        OneForAll,
        OtherAxis,
        Reduction,
        Repeated,
        Reshaped,
        Shape,
        ShapeDiffers,
        SizeDiffers,
        SizesExchanged,
        Square,
        Unmerged,
        ValuesDiffer,
        array,
    )
    from .float_arrays import Numbers, as_array, fingerprint, numbers, special, wrong
    from .sketches import ArraySketch, Sketch, Sums, is_raised_alike, is_same, sketch, step_of, sums_of

__getattr__ = face(__name__)
