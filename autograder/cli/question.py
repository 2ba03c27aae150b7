"""The question after a corrected mistake, on a terminal: a choice of four, skipped with Enter."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from autograder.cli.screen import Screen, warn
from autograder.course import Course, Exercise
from autograder.learner.progress import Standing

if TYPE_CHECKING:
    from autograder.learner.question import Question


def ask_about(
    options: argparse.Namespace, course: Course, exercise: Exercise, before: Standing, after: Standing
) -> None:
    """Ask what the corrected mistake was, where somebody is there to answer."""
    if options.no_questions or options.json is not None or not _somebody_is_there():
        return
    from autograder.learner.question import question_after

    question = question_after(course, exercise, before, after)
    if question is not None:
        _ask(Screen.of(options), course, exercise, question)


def _somebody_is_there() -> bool:
    streams = (sys.stdin, sys.stdout)
    return not os.environ.get("CI") and all(stream is not None and stream.isatty() for stream in streams)


def _ask(screen: Screen, course: Course, exercise: Exercise, question: "Question") -> None:
    from autograder.learner.question import save_answer

    screen.gap()
    screen.text("You corrected a mistake. What was it?", indent=0, style="bold")
    for number, answer in enumerate(question.answers, 1):
        screen.text(answer, label=str(number))
    chosen = _read(f"Type 1 to {len(question.answers)}, or Enter to skip: ", len(question.answers))
    if chosen is None:
        warn(save_answer(course, exercise, question, "skipped"))
        return
    is_right = chosen == question.right
    warn(save_answer(course, exercise, question, "right" if is_right else "wrong"))
    verdict = "Right." if is_right else f"It was {question.right + 1}: {question.answers[question.right]}."
    screen.text(f"{verdict} {question.explanation}", indent=0)


def _read(prompt: str, most: int) -> int | None:
    """Return the answer that somebody types, from 0; None if they skip the question."""
    while True:
        print(prompt, end="", flush=True)
        try:
            typed = sys.stdin.readline()
        except KeyboardInterrupt:
            typed = ""
        if not typed.endswith("\n"):
            print()
        if not typed.strip():
            return None
        if typed.strip().isdecimal() and 1 <= int(typed) <= most:
            return int(typed) - 1
