"""The question after a corrected mistake, on a terminal: a choice of four, skipped with Enter."""

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.cli.screen import Screen, chosen, is_somebody_there, say, warn
from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.learner.progress import Standing

if TYPE_CHECKING:
    from autograder.learner.question import Question


def ask_about(
    options: argparse.Namespace, course: Course, exercise: Exercise, before: Standing, after: Standing
) -> None:
    """Ask what the corrected mistake was, where somebody is there to answer."""
    if options.no_questions or options.json is not None or os.environ.get("CI") or not is_somebody_there():
        return
    from autograder.learner.question import question_after

    question = question_after(course, exercise, before, after)
    if question is not None:
        _ask(Screen.of(options), course, exercise, question)


def _ask(screen: Screen, course: Course, exercise: Exercise, question: "Question") -> None:
    from autograder.learner.question import save_answer

    screen.gap()
    answers, right = question.choice.answers, question.choice.right
    screen.choices(question.choice.question, answers)
    answer = _read(f"Type 1 to {len(answers)}, or Enter to skip:", answers)
    if answer is None:
        warn(save_answer(course, exercise, question, "skipped"))
        return
    is_right = answer == right
    warn(save_answer(course, exercise, question, "right" if is_right else "wrong"))
    verdict = "Right." if is_right else f"It was {right + 1}: {answers[right]}."
    screen.text(f"{verdict} {question.explanation}", indent=0)


def _read(prompt: str, answers: Sequence[str]) -> int | None:
    """Return the answer that somebody types, from 0; None if they skip the question."""
    while True:
        say(prompt, end=" ")
        try:
            typed = sys.stdin.readline()
        except KeyboardInterrupt:
            typed = ""
        if not typed.endswith("\n"):
            print()
        if not typed.strip():
            return None
        with contextlib.suppress(UsageError):
            return chosen(typed.strip(), answers)
