"""One question after a named mistake was corrected: what was it? To explain a mistake is what makes its hints last."""

from dataclasses import dataclass

from autograder.course import Course, Exercise
from autograder.course.misconceptions import describe, named_in
from autograder.learner.practice.choices import MOST_ANSWERS, Choice, make_choice
from autograder.learner.progress import Standing, save_events
from autograder.learner.progress.events import Answer, Event, now


@dataclass(frozen=True)
class Question:
    """A misconception that was corrected, the question, and the explanation of the right answer."""

    misconception: str
    choice: Choice
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
    others = named_in(course, exercise, besides=corrected).values()
    choice = make_choice("You corrected a mistake. What was it?", known.name, others, corrected)
    return Question(corrected, choice, known.explanation) if len(choice.answers) == MOST_ANSWERS else None


def save_answer(course: Course, exercise: Exercise, question: Question, answer: Answer) -> str:
    """Record how a question was answered. Return a warning if that could not be saved, else ""."""
    event = Event(now(), "question", exercise.id, "question", result=answer, finding=question.misconception)
    return save_events(course, [event]).warning
