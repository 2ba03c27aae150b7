"""Answer some questions on earlier mistakes: two minutes.

The questions are on mistakes that you made and on exercises that passed long ago. A question that you answer comes
back later, a missed one sooner.
"""

import argparse
from datetime import UTC, datetime

from autograder.cli import CommandParser, Screen, add_json, chosen, is_somebody_there, typed
from autograder.course import Course, UsageError, find_course, read_course
from autograder.exits import PASS
from autograder.progress import read_progress, write_json
from autograder.report import plural

from .reviewing import LONG_AGO, ReviewQuestion, due_questions, next_due, rate, to_json


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--answer", metavar="N", help="answer the first question that is due")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. A question that is skipped stays due."""
    course = read_course(find_course())
    screen = Screen.of(options)
    questions = due_questions(course, read_progress(course), datetime.now(UTC))
    if options.answer is not None:
        return _answer_first(options, screen, course, questions)
    if write_json(options.json, {"due": [to_json(question) for question in questions]}):
        return PASS
    if not questions:
        screen.text(_nothing(next_due(course, read_progress(course), datetime.now(UTC))), indent=0)
    elif is_somebody_there():
        _ask_all(screen, course, questions)
    else:
        _show(screen, questions[0])
        more = len(questions) - 1
        screen.next([("course review --answer N", f"{plural(more, 'question')} more" if more else "the last one")])
    return PASS


def _nothing(due: datetime | None) -> str:
    if due is not None:
        return f"Nothing to review now. The next question comes on {due.astimezone():%Y-%m-%d}."
    days = LONG_AGO.days
    return f"Nothing to review yet. The first question comes when you correct a mistake, or {days} days after a pass."


def _show(screen: Screen, question: ReviewQuestion) -> None:
    for line in question.code:
        screen.line(f"  {line}")
    screen.choices(question.choice.question, question.choice.answers)


def _ask_all(screen: Screen, course: Course, questions: list[ReviewQuestion]) -> None:
    for question in questions:
        screen.gap()
        _show(screen, question)
        answers = question.choice.answers
        try:
            answer = chosen(typed(f"Type 1 to {len(answers)}, or Enter to stop:"), answers)
        except UsageError:
            return
        _judge(screen, course, question, answer)


def _judge(screen: Screen, course: Course, question: ReviewQuestion, answer: int) -> None:
    is_right = answer == question.choice.right
    due = rate(course, question.misconception, datetime.now(UTC), is_right=is_right)
    verdict = "Right." if is_right else f"No, it is {question.choice.right + 1}."
    screen.text(f"{verdict} {question.explanation}", indent=0)
    screen.text(f"This question comes back on {due.astimezone():%Y-%m-%d}.", indent=0)


def _answer_first(options: argparse.Namespace, screen: Screen, course: Course, questions: list[ReviewQuestion]) -> int:
    if not questions:
        raise UsageError("no question is due, so there is nothing to answer")
    question = questions[0]
    answer = chosen(options.answer, question.choice.answers)
    if options.json == "-":
        is_right = answer == question.choice.right
        rate(course, question.misconception, datetime.now(UTC), is_right=is_right)
        write_json(options.json, {"right": is_right, "misconception": question.misconception})
    else:
        _judge(screen, course, question, answer)
    return PASS
