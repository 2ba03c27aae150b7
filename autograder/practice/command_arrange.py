"""Put the lines of a right program in order, after the last hint.

It writes the lines of a right program like yours to arrange/, in another order and with some wrong ones. Order them,
then run `course arrange EX --check`.
"""

import argparse
import ast
import difflib
import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from autograder.cli import CommandParser, KeyProgress, Screen, add_exercise, add_json, show_programs
from autograder.course import (
    Course,
    Exercise,
    HuntFile,
    UsageError,
    find_course,
    make_folder,
    outline_of_stub,
    read_course,
    read_plain,
    write_atomically,
)
from autograder.ending import FAIL, PASS
from autograder.progress import check_submission, exercise_meant, own_source, read_progress, require_attempt, write_json
from autograder.protocol import Function, outline_of
from autograder.report import plural
from autograder.submission import Submission, digest

from .command_hunt import OnProgress, programs_for, show_not_yet

# The lines of a right program in another order, with wrong lines among them, for learners who are stuck.

ARRANGE_FOLDER = "arrange"
MOST_DISTRACTORS = 3
"""Wrong lines in a function: more of them make a puzzle of another kind."""

INTRODUCTION = """\
# Put the lines of each function in order: move them, and delete those that are wrong.
# The indentation of each line is right. Then run: course arrange {number} --check
"""


def write_puzzle(course: Course, exercise: Exercise, on_progress: OnProgress) -> tuple[Path, int]:
    """Write the puzzle of an exercise, and return its file and the number of wrong lines in it.

    Raises `UsageError` if there are no programs to make it from.
    """
    programs = programs_for(course, exercise, on_progress)
    if not programs.right:
        raise UsageError(
            f"{exercise.id} has no accepted variant; `course solution {exercise.number}` shows the solution"
        )
    variant = nearest(programs, own_source(course, exercise))
    text, wrong = puzzle(course, exercise, programs, variant)
    file = course.root / ARRANGE_FOLDER / exercise.file
    make_folder(file.parent, below=course.root)
    write_atomically(file, INTRODUCTION.format(number=exercise.number) + text, below=course.root)
    return file, wrong


def read_puzzle(course: Course, exercise: Exercise) -> Submission:
    """Return the learner's order. Raises `UsageError` if there is none."""
    file = course.root / ARRANGE_FOLDER / exercise.file
    try:
        sources = {exercise.file: read_plain(file, below=course.root)}
    except FileNotFoundError:
        raise UsageError(
            f"there is no {ARRANGE_FOLDER}/{exercise.file}; `course arrange {exercise.number}` makes it"
        ) from None
    return Submission("arrange", course.files, sources, digest(sources), ())


def nearest(programs: HuntFile, source: bytes | None) -> str:
    """Return the name of the variant whose lines are most like the learner's; one file before a whole style."""
    own = _code((source or b"").decode("utf-8", "replace"))

    def likeness(name: str) -> tuple[float, bool, str]:
        ratio = difflib.SequenceMatcher(None, own, _code(programs.right[name]), autojunk=False).ratio()
        return round(ratio, 3), "/" not in name, name

    return max(programs.right, key=likeness)


def puzzle(course: Course, exercise: Exercise, programs: HuntFile, variant: str) -> tuple[str, int]:
    """Return the text of a variant with the body of each TODO in another order, and the number of wrong lines."""
    text = programs.right[variant]
    stub = outline_of_stub(course, exercise)
    todos = {function.name for function in stub.functions if function.todo} if stub is not None else set()
    functions = [function for function in outline_of(text).functions if function.name in todos]
    if not functions:
        functions = list(outline_of(text).functions)
    lines, count = text.splitlines(), 0
    for function in sorted(functions, key=lambda one: -one.line):
        right = _logical_lines(text, function)
        wrong = _distractors(programs, variant, function, right)
        mixed = _shuffled([*right, *wrong], right, f"{exercise.id} {variant} {function.name}")
        lines[function.body - 1 : function.end] = "\n".join(mixed).split("\n")
        count += len(wrong)
    return "\n".join(lines) + "\n", count


def _shuffled(mixed: Sequence[str], right: Sequence[str], salt: str) -> list[str]:
    """Return the lines in an order that is always the same, and not the right one if there is another."""
    generator = random.Random(salt)
    shuffled = list(mixed)
    for _ in range(10):
        generator.shuffle(shuffled)
        if [line for line in shuffled if line in right] != list(right):
            break
    return shuffled


def _distractors(programs: HuntFile, variant: str, function: Function, right: Sequence[str]) -> list[str]:
    """Return wrong lines for a function: those of wrong programs made from the same variant."""
    found: list[str] = []
    for hunt in programs.hunts:
        if hunt.variant != variant:
            continue
        same = next((one for one in outline_of(hunt.source).functions if one.name == function.name), None)
        lines = _logical_lines(hunt.source, same) if same is not None else []
        new = [line for line in lines if line not in right and line not in found]
        found += new if len(new) == 1 else []  # a program that changes several lines shows half a mistake in each
    return found[:MOST_DISTRACTORS]


def _logical_lines(text: str, function: Function) -> list[str]:
    """Return the statements of a function's body as they stand, without comments and empty lines."""
    lines, found, number = text.splitlines(), [], function.body
    ends = dict(_spans(ast.parse(text)))
    while number <= function.end:
        last = max(ends.get(number, number), number)
        part = lines[number - 1 : last]
        while part and _is_comment(part[-1]):  # between the first line of a block and its first statement
            part.pop()
        found += ["\n".join(part)] if part else []
        number = last + 1
    return found


def _spans(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each statement; of a block only those before its first statement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            inside = getattr(node, "body", None)
            is_block = isinstance(inside, list) and bool(inside)
            yield node.lineno, inside[0].lineno - 1 if is_block and inside else node.end_lineno or node.lineno


def _is_comment(line: str) -> bool:
    return not line.strip() or line.strip().startswith("#")


def _code(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if not _is_comment(line)]


# The command.


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
