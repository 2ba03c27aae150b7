"""The trusted side: verdicts from observations and answer keys. It runs no learner's code, and needs no torch."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .drawings import StepResult, failures, plan_of, results_of
    from .grader import Grader, Shapes
    from .marking import Marking
    from .proving import SELF_CHECK, Budget
    from .verdict import OnOutcomes, Verdicts, failed_result, held_result, outputs_of, result_of

__getattr__ = face(__name__)
