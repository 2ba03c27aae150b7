"""The language in which checks are written. Worker and judge import it, so it needs neither torch nor NumPy."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .array_given import ArrayGiven
    from .given import Given, ReferencePart, seed_torch
    from .language import (
        HINTS,
        LEAST_RESULTS,
        Check,
        DeclarationError,
        Drawing,
        Dropout,
        Judge,
        Key,
        Like,
        Raises,
        Same,
        SameInputs,
        Step,
        Within,
        check,
        checks_in,
        column_of,
        counted_checks,
        declaration_problems,
        derived_seed,
        functions_of,
        missing_ideas,
        names_any,
        names_in,
        nearest_name,
        parts_of,
        picture,
        pictures_in,
        sizes_of,
        standard_checks,
        step,
        steps_in,
    )
    from .plain_given import NEAR, Implementation, PlainGiven, StructureError
    from .pretended_device import NAME, DeviceMixError, Elsewhere, another_device

__getattr__ = face(__name__)
