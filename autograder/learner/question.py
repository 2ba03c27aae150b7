"""One question after a named mistake was corrected: what was it? To explain a mistake is what makes its hints last."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from autograder.course import Course, Exercise
from autograder.course.misconceptions import describe, named_in
from autograder.learner.progress import Standing, save_events
from autograder.learner.progress.events import Answer, Event, now

WRONG_ANSWERS = 3


@dataclass(frozen=True)
class Question:
    """A misconception that was corrected, the four answers, and the explanation of the right one."""

    misconception: str
    answers: tuple[str, ...]
    right: int
    explanation: str


def question_after(course: Course, exercise: Exercise, before: Standing, after: Standing) -> Question | None:
    """Return the question on the mistake that a learner has just corrected.

    None if there was none, if it was a convention and no mistake, if it was asked about before, or if the course has
    too few other mistakes to choose from.
    """
    corrected = before.finding
    if not course.questions or corrected is None or corrected in after.answers:
        return None
    if before.check not in after.right or after.finding == corrected:
        return None
    known = describe(course, corrected)
    if known is None or known.exercise != exercise.id or known.convention:
        return None
    names = {id_: name for id_, name in named_in(course, exercise, besides=corrected).items() if name != known.name}
    others = sorted(dict.fromkeys(names.values()), key=_order(corrected))[:WRONG_ANSWERS]
    if len(others) < WRONG_ANSWERS:
        return None
    answers = sorted([known.name, *others], key=_order(exercise.id))
    return Question(corrected, tuple(answers), answers.index(known.name), known.explanation)


def save_answer(course: Course, exercise: Exercise, question: Question, answer: Answer) -> str:
    """Record how a question was answered. Return a warning if that could not be saved, else ""."""
    event = Event(now(), "question", exercise.id, "question", result=answer, finding=question.misconception)
    return save_events(course, [event]).warning


def _order(salt: str) -> Callable[[str], str]:
    """Return a key that puts texts in an order which looks random and is always the same."""
    return lambda text: hashlib.sha256(f"{salt}\0{text}".encode()).hexdigest()
