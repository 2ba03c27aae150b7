"""The language in which checks are written. Worker and judge import it, so it needs neither torch nor NumPy."""

from autograder.checks.judges import DeclarationError, Dropout, Judge, Like, Raises, Same, SameInputs
from autograder.checks.language import (
    Check,
    Drawing,
    Step,
    check,
    checks_in,
    counted_checks,
    declaration_problems,
    picture,
    pictures_in,
    step,
    steps_in,
)
from autograder.checks.standard import StandardChecks, standard_checks

__all__ = [
    "Check",
    "DeclarationError",
    "Drawing",
    "Dropout",
    "Judge",
    "Like",
    "Raises",
    "Same",
    "SameInputs",
    "StandardChecks",
    "Step",
    "check",
    "checks_in",
    "counted_checks",
    "declaration_problems",
    "picture",
    "pictures_in",
    "standard_checks",
    "step",
    "steps_in",
]
