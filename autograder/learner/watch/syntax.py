"""A file that Python cannot read is told at once: it is compiled here, never run, and no worker is asked."""

import warnings
from functools import lru_cache

from autograder.answer_key.model import AnswerKey
from autograder.comparison.compare import Expected
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.judge.result import result_of
from autograder.judge.verdict import Verdicts
from autograder.protocol.source_text import text_of
from autograder.results import ExerciseResult, Place
from autograder.runner.outcomes import Fault
from autograder.submission.notebook import Cells


@lru_cache(maxsize=32)
def syntax_fault(source: bytes, file: str) -> Fault | None:
    """Return what importing a file would raise for its syntax, if anything.

    One that is too deep to be compiled, or holds no text at all, goes to a worker, which may break on it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text_of(source, file), file, "exec", dont_inherit=True)
    except SyntaxError as error:
        bases = tuple(each.__name__ for each in type(error).__mro__)
        place = Place(file, max(error.lineno or 1, 1))
        return Fault(bases[0], bases, str(error.msg)[:1000], "other", (place,), at_import=True)
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return None
    return None


def syntax_result(
    suite: Suite, exercise: Exercise, seed: int, fault: Fault, source: bytes, cells: Cells
) -> ExerciseResult:
    """Return the verdict on an exercise whose file has that fault: the same as if a worker had imported it."""
    plan = suite.plan([exercise])[exercise.id]
    nothing_known = AnswerKey(dict.fromkeys(plan, Expected(None, None)), ())
    verdicts = Verdicts(suite, exercise, lambda _: nothing_known, seed=seed, evidence=False)
    return result_of(verdicts.judge(dict.fromkeys(plan, fault), None, source), cells={exercise.file: cells})
