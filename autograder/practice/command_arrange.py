"""Put the lines of a right program in order, after the last hint.

It writes the lines of a right program like yours to arrange/, in another order and with some wrong ones. Order them,
then run `course arrange EX --check`.
"""

import argparse
from contextlib import closing

from autograder.cli import CommandParser, KeyProgress, Screen, add_exercise, add_json, show_programs
from autograder.course import find_course, read_course
from autograder.exits import FAIL, PASS
from autograder.progress import check_submission, exercise_meant, read_progress, require_attempt, write_json
from autograder.report import plural

from .arranging import ARRANGE_FOLDER, read_puzzle, write_puzzle
from .command_hunt import show_not_yet


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    parser.add_argument("--check", action="store_true", help="run the checks on your order")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command: write the puzzle, or check an order. Neither is part of the progress."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = exercise_meant(course, progress, options.exercise)
    screen, standing = Screen.of(options), progress.of(exercise)
    if not options.check:
        if not standing.ever_passed and not standing.solution_shown:
            require_attempt(course, exercise, standing, "arrange the lines of")
        file, wrong = write_puzzle(course, exercise, show_programs)
        name = file.relative_to(course.root).as_posix()
        if write_json(options.json, {"exercise": exercise.id, "file": name, "wrong_lines": wrong}):
            return PASS
        also = f" and {plural(wrong, 'wrong line')}" if wrong else ""
        screen.text(f"{name} has the lines of a right program in another order{also}.", indent=0)
        screen.next([(f"edit {name}", f"then course arrange {exercise.number} --check")])
        return PASS
    submission = read_puzzle(course, exercise)
    with closing(KeyProgress(plain=screen.plain)) as line:
        report = check_submission(course, [exercise], submission, seed=course.seed, on_progress=line.on_progress)
    result = report.exercises[0]
    if not write_json(options.json, report.to_json()):
        if result.status == "pass":
            screen.text("Right: every check passes. Now write it in your own file.", indent=0, style="green")
            screen.next([(f"edit {course.exercises_dir.name}/{exercise.file}", f"then course check {exercise.number}")])
        else:
            show_not_yet(screen, result)
            screen.next([(f"edit {ARRANGE_FOLDER}/{exercise.file}", f"then course arrange {exercise.number} --check")])
    return PASS if result.status == "pass" else FAIL
