"""Report syntax errors at once: the file is compiled here, never run, and no worker is needed."""

import warnings
from functools import lru_cache

from autograder.answer_key.model import AnswerKey
from autograder.comparison.compare import Expected
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.judge.result import result_of
from autograder.judge.verdict import Verdicts
from autograder.protocol.source_text import code_of
from autograder.results import ExerciseResult, Place
from autograder.runner.outcomes import Fault
from autograder.submission.notebook import Cells


@lru_cache(maxsize=32)
def syntax_fault(source: bytes, file: str) -> Fault | None:
    """Return the syntax error that importing a file would raise, if any.

    A file that is no text, or too deeply nested to compile, returns None: a worker may crash on it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code_of(source, file)
    except SyntaxError as error:
        bases = tuple(base.__name__ for base in type(error).__mro__)
        place = Place(file, max(error.lineno or 1, 1))
        return Fault(bases[0], bases, str(error.msg)[:1000], "other", (place,), at_import=True)
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return None
    return None


def syntax_result(
    suite: Suite, exercise: Exercise, seed: int, fault: Fault, source: bytes, cells: Cells
) -> ExerciseResult:
    """Return the result of an exercise whose file has that syntax error: the same as that of a worker."""
    plan = suite.plan([exercise])[exercise.id]
    empty_key = AnswerKey(dict.fromkeys(plan, Expected(None, None)), ())
    verdicts = Verdicts(suite, exercise, lambda _: empty_key, seed=seed, evidence=False)
    return result_of(verdicts.judge(dict.fromkeys(plan, fault), None, source), cells={exercise.file: cells})
