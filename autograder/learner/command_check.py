"""Run the checks of your exercise, and explain the first failure.

Without EX it checks the exercise you are on. The result is saved as your progress, unless you name a --submission.

{naming}

Exit status: 0 if all pass, 1 if not, 2 for a wrong option or course, 3 if this machine cannot run checks, 4 if the
grader itself failed.
"""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cli import (
    COURSE_SEED,
    CommandParser,
    KeyProgress,
    Screen,
    add_brief,
    add_json,
    add_run,
    chosen,
    is_somebody_there,
    make_console,
    say,
    typed,
    warn,
)
from autograder.course import Course, Exercise, UsageError, find_course, left_out, read_course
from autograder.ending import leaving
from autograder.progress import (
    ALL_AT_ONCE,
    Command,
    DiaryEntry,
    Progress,
    Standing,
    after_check,
    after_submission,
    check_submission,
    confinement_warning,
    encouragement,
    exit_status,
    keep_brief,
    moved_on,
    normalize_device,
    now,
    pause_advice,
    read_progress,
    record,
    select_exercises,
    write_in_diary,
    write_json,
)
from autograder.results import Report
from autograder.submission import read_own

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.practice import Question


# The questions after a corrected mistake, on a terminal: a choice of four, and a sentence; both skipped with Enter.


def ask_about(
    options: argparse.Namespace, course: Course, exercise: Exercise, before: Standing, after: Standing
) -> None:
    """Ask what the corrected mistake was, where somebody is there to answer: a choice, then their own words."""
    if options.no_questions or options.json is not None or os.environ.get("CI") or not is_somebody_there():
        return
    screen = Screen.of(options)
    try:
        from autograder.practice import question_after  # an application beside this one
    except ModuleNotFoundError:
        question = None
    else:
        question = question_after(course, exercise, before, after)
    if question is not None:
        _ask(screen, course, exercise, question)
    if course.questions and after.passes_now and not before.ever_passed and before.status in ("fail", "error"):
        _ask_for_words(screen, course, exercise, before)


def _ask_for_words(screen: Screen, course: Course, exercise: Exercise, before: Standing) -> None:
    """Ask once, when an exercise passes after it failed, what was wrong. The answer goes into the diary."""
    screen.gap()
    title = before.title or "a check"
    screen.text(f"It passes. Before, this failed: {title}. What was wrong?", indent=0, style="bold")
    try:
        words = typed("One sentence for your diary, or Enter to skip:")
    except KeyboardInterrupt:
        print()
        return
    if words:
        warn(write_in_diary(course, DiaryEntry(now(), exercise.id, title, words)))


def _ask(screen: Screen, course: Course, exercise: Exercise, question: "Question") -> None:
    from autograder.practice import save_answer  # an application beside this one

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


NAMING = "Every command that takes an exercise accepts its number, its name, the beginning of its name, or its id."


def _naming(names: Sequence[str]) -> str:
    """Return how an exercise is named, with the names of one as an example."""
    *others, last = names or [""]
    return f"{NAMING[:-1]}:\n{', '.join(others)} and {last} all name {last}." if others else NAMING


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.description = (parser.description or "").replace("{naming}", _naming(parser.names))
    parser.add_argument("exercises", nargs="*", metavar="EX", help=f"{parser.exercise} (default: the one you are on)")
    parser.add_argument("--all", action="store_true", help="check every exercise")
    does = "check the files in a folder or a zip, not your exercises/; they run with your rights"
    parser.add_argument("--submission", type=Path, metavar="DIR", help=does)
    does = "do not ask what a corrected mistake was (also: questions = false in course.toml)"
    parser.add_argument("--no-questions", action="store_true", help=does)
    add_brief(parser)
    add_run(parser, COURSE_SEED)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    before = progress = read_progress(course)
    own = options.submission is None
    exercises = select_exercises(course, progress, options.exercises, check_all=options.all, own=own)
    if own and not options.exercises and not options.all:
        _say_where(options, moved_on(course, progress))
    options.brief, warning = keep_brief(course, options.brief)
    warn(warning)
    warn(left_out(course) if options.all else "")
    device = normalize_device(options.device)
    seed = course.seed if options.seed is None else options.seed
    submission = read_own(course, folder=options.submission)
    warn(confinement_warning(course, options.submission))
    command = "check" if len(exercises) == 1 else ALL_AT_ONCE
    seen: list[Report] = []

    def on_verdict(report: Report) -> None:
        seen.append(report)
        if own and len(exercises) == 1 and options.json is None:
            line.on_verdict(_first_look(options, course, report))

    def leave() -> None:
        for report in seen if own else ():
            record(course, report, submission.sources, command=command)

    with leaving(leave), contextlib.closing(KeyProgress(plain=options.plain)) as line:
        line.start([exercise.id for exercise in exercises])
        report = check_submission(
            course,
            exercises,
            submission,
            seed=seed,
            device=device,
            on_progress=line.on_progress,
            on_outcomes=line.on_outcomes,
            on_verdict=on_verdict,
            meanwhile=_load_rendering if options.json != "-" else lambda: None,
        )
    if own:
        # Saved before anything is shown, because nobody may read the output to its end.
        saved = record(course, report, submission.sources, command=command)
        warn(saved.warning)
        progress = saved.progress
    if not write_json(options.json, report.to_json()):
        _show(options, course, report, progress, own=own)
        if own and len(exercises) == 1:
            ask_about(options, course, exercises[0], before.of(exercises[0]), progress.of(exercises[0]))
    return exit_status(report)


def _first_look(options: argparse.Namespace, course: Course, report: Report) -> list[str]:
    """Return the lines of a brief verdict; none where they do not fit on the screen with the line below them."""
    console = make_console(options)
    with console.capture() as captured:
        _render(console, course, report, next_commands=(), brief=True)
    lines = captured.get().splitlines()
    return lines if len(lines) < console.height - 1 else []


def _render(console: "Console", course: Course, report: Report, **how: Any) -> None:
    """Print the only exercise of a report."""
    from autograder.report import glyphs_for, render_exercise  # rich, which other output does not need

    [result] = report.exercises
    file = course.exercises_dir / f"{result.id}.py"
    render_exercise(console, result, file_path=file, glyphs=glyphs_for(console.encoding), **how)


def _load_rendering() -> None:
    """Import what shows a report: this takes as long as a worker needs to start."""
    importlib.import_module("autograder.report.terminal")


def _say_where(options: argparse.Namespace, sentence: str) -> None:
    """Print which exercise is checked, if it is another one than the last time."""
    if sentence and options.json != "-":
        screen = Screen.of(options)
        screen.text(sentence, indent=0)
        screen.gap()


def _show(options: argparse.Namespace, course: Course, report: Report, progress: Progress, *, own: bool) -> None:
    """Print one exercise in full, or several as a table with the first failure."""
    commands = after_check(course, report, progress) if own else after_submission(course, report, options.submission)
    if len(report.exercises) == 1 and own:
        _show_exercise(options, course, report, progress, commands)
        return
    from autograder.report import glyphs_for, render_report  # rich, which other output does not need

    console = make_console(options)
    paths = {exercise.file: course.exercises_dir / exercise.file for exercise in course.exercises} if own else {}
    glyphs = glyphs_for(console.encoding)
    render_report(
        console,
        report,
        file_paths=paths,
        next_commands=commands,
        glyphs=glyphs,
        plain=options.plain,
        brief=options.brief,
    )


def _show_exercise(
    options: argparse.Namespace, course: Course, report: Report, progress: Progress, commands: Sequence[Command]
) -> None:
    """Print the result of one exercise, then advice if there is any, and the next commands last."""
    console = make_console(options)
    exercise = course.exercise(report.exercises[0].id)
    standing = progress.of(exercise)
    advice = pause_advice(exercise, standing)
    if news := encouragement(standing):
        screen = Screen.of(options)
        screen.line((screen.glyphs.passed, "green"), f" {news}") if not screen.plain else screen.text(news)
    _render(
        console,
        course,
        report,
        next_commands=() if advice else commands,
        plain=options.plain,
        hints_shown=max(standing.hints_shown, 1),
        attempt=standing.attempts,
        unused_hints=standing.hints[standing.hints_shown :],
        brief=options.brief,
    )
    if advice:
        screen = Screen.of(options)
        screen.gap()
        screen.text(advice)
        screen.gap()
        screen.next(commands)
