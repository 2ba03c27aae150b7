"""Answer three questions about your own program: two minutes.

Your exercise must pass. The questions are about your lines. What does one compute? What fails when it changes? Your
program runs for each answer. The same program and the same seed get the same questions.
"""

import argparse
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime

from autograder.cli import (
    CommandParser,
    KeyProgress,
    Screen,
    add_exercise,
    add_json,
    chosen,
    is_somebody_there,
    typed,
    warn,
)
from autograder.course import Course, Exercise, UsageError, find_course, read_course, resolve_exercise
from autograder.ending import PASS
from autograder.progress import Event, Progress, exercise_meant, now, read_progress, save_events, write_json
from autograder.questions import Question, open_asker
from autograder.report import plural
from autograder.runner import EnvironmentProblem
from autograder.submission import read_own

from .command_review import own_code, rate

AT_ONCE = 3
"""Questions of one quiz: about two minutes."""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser, "the last one that passes")
    parser.add_argument("--seed", type=int, metavar="N", help="ask other questions (default: those not asked yet)")
    parser.add_argument("--answer", metavar="TEXT", help="answer the first question: a number of a choice, or a value")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. A question that is skipped costs nothing."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = _exercise_of(course, progress, options.exercise)
    screen = Screen.of(options)
    rounds, first = divmod(progress.of(exercise).quiz_asked, AT_ONCE)
    seed = rounds if options.seed is None else options.seed
    questions = _questions(course, exercise, seed, plain=options.plain)
    waiting = questions[first:] if options.seed is None else questions
    if not waiting:
        raise UsageError(
            f"there are no more questions about your {exercise.file}; `course quiz {exercise.number} --seed "
            f"{seed + 1}` draws others"
        )
    if options.answer is not None:
        is_right = _judge(screen, course, waiting[0], options.answer, quiet=options.json == "-")
        write_json(options.json, {"right": is_right, "answer": waiting[0].answer, "reason": waiting[0].reason})
        return PASS
    if write_json(options.json, {"exercise": exercise.id, "questions": [_data(question) for question in waiting]}):
        return PASS
    if is_somebody_there():
        _ask_all(screen, course, exercise, waiting)
        return PASS
    _show(screen, waiting[0])
    screen.next([(f"course quiz {exercise.number} --answer TEXT", waiting[0].form or "TEXT is a number of the list")])
    return PASS


def _exercise_of(course: Course, progress: Progress, name: str | None) -> Exercise:
    """Return the exercise of that name; without one the last worked on that passes."""
    if name:
        return resolve_exercise(course, name)
    passing = [one for one in course.exercises if progress.of(one).passes_now]
    here = [one for one in passing if one.id == progress.here]
    return [*passing, *here][-1] if passing else exercise_meant(course, progress, None)


def _questions(course: Course, exercise: Exercise, seed: int, *, plain: bool) -> Sequence[Question]:
    """Return the questions of a seed. Raises `UsageError` if the program cannot be asked about."""
    submission = read_own(course)
    with closing(KeyProgress(plain=plain)) as line:
        line.start([exercise.id])
        with open_asker(course, [exercise], on_progress=line.on_progress) as asker:
            asked = asker.ask(submission, [exercise], AT_ONCE, salt=str(seed))
    if not asked.questions:
        reason = asked.refusals[0].removesuffix(".") if asked.refusals else f"no question fits your {exercise.file}"
        raise UsageError(f"{reason}; the questions are about a program that passes: course check {exercise.number}")
    return asked.questions


def _ask_all(screen: Screen, course: Course, exercise: Exercise, questions: Sequence[Question]) -> None:
    answers: list[bool] = []
    for at, question in enumerate(questions, 1):
        screen.gap()
        screen.text(f"Question {at} of {len(questions)}, on your {question.file}", indent=0, style="cyan")
        _show(screen, question)
        answer = _read(question)
        if answer:
            answers.append(_judge(screen, course, question, answer))
        else:
            _save(course, question, "skipped")
            screen.text(f"Skipped. The answer is: {question.answer}. {question.reason}", indent=0)
    screen.gap()
    screen.text(f"{sum(answers)} of {plural(len(answers), 'answer')} right.", indent=0)
    if answers:
        with suppress(EnvironmentProblem):  # without the package that schedules reviews nothing comes back
            due = rate(course, own_code(exercise), datetime.now(UTC), is_right=all(answers))
            screen.text(f"course review asks again about this program on {due.astimezone():%Y-%m-%d}.", indent=0)


def _read(question: Question) -> str:
    """Return what somebody types; "" if they skip the question."""
    prompt = f"Type 1 to {len(question.options)}" if question.options else f"Type {question.form}"
    while given := typed(f"{prompt}, or Enter to skip:"):
        try:
            _meant(question, given)
        except UsageError as error:
            warn(str(error))
        else:
            break
    return given


def _meant(question: Question, given: str) -> str:
    """Return the answer that is meant: the option with a number, or the text. Raises `UsageError`."""
    if question.options:
        return question.options[chosen(given, question.options)]
    if question.kind == "shape" and not any(map(str.isdecimal, given)):
        raise UsageError(f"{given!r} is no shape; write its sizes, such as 2, 3")
    return given


def _judge(screen: Screen, course: Course, question: Question, given: str, *, quiet: bool = False) -> bool:
    is_right = question.accepts(_meant(question, given))
    _save(course, question, "right" if is_right else "wrong")
    if not quiet:
        verdict = "Right." if is_right else f"No, the answer is: {question.answer}."
        screen.text(f"{verdict} {question.reason}", indent=0, style="green" if is_right else "red")
    return is_right


def _save(course: Course, question: Question, result: str) -> None:
    event = Event(now(), "quiz", question.exercise, "quiz", result=result, check=question.kind)
    warn(save_events(course, [event]).warning)


def _show(screen: Screen, question: Question) -> None:
    for line in question.code:
        screen.line(f"  {line}")
    for line in question.given:
        screen.line(f"  {line}")
    screen.choices(question.text, question.options)


def _data(question: Question) -> dict[str, object]:
    """Return the JSON of a question, without the answer."""
    return {
        "kind": question.kind,
        "line": question.line,
        "question": question.text,
        "code": question.code,
        "given": question.given,
        "answers": question.options,
    }
