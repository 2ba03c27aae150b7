"""Find, name and repair the fault in a program.

It writes a program with one fault to hunt/. It asks what the program gives, which line is wrong, and what the mistake
is. Repair it in the file, then run `course hunt --check`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder import ending
from autograder.cli import (
    CommandParser,
    KeyProgress,
    Screen,
    add_exercise,
    add_json,
    chosen,
    is_somebody_there,
    show_programs,
    show_tested,
    show_tried,
    typed,
    warn,
)
from autograder.course import (
    Course,
    Exercise,
    HuntFile,
    UsageError,
    describe,
    find_course,
    make_folder,
    read_course,
    read_text,
    write_atomically,
)
from autograder.ending import FAIL, PASS
from autograder.progress import exercise_meant, read_progress, write_json
from autograder.protocol import outline_of
from autograder.report import plural
from autograder.results import ExerciseResult, Report

from .hunting import (
    HUNT_FOLDER,
    MOST_BYTES,
    OpenHunt,
    answer,
    draw,
    finds_line,
    finish,
    judge,
    open_hunt,
    programs_for,
    read_repair,
)

# Test the tests of a learner: they must pass every right program, and fail as many wrong ones as they can.

PACKAGE = Path(__file__).parents[2]

TEMPLATE = '''\
"""Tests of {id}. Each gets a program as a module, and fails with an assert. Which wrong programs do they find?"""

import torch


def test_something(module):
    # result = module.NAME(...)
    # assert result.shape == (2, 3)
    pass
'''


@dataclass(frozen=True)
class Caught:
    """How many of the wrong programs with a misconception the tests find."""

    misconception: str
    name: str
    found: int
    programs: int


@dataclass(frozen=True)
class TestScore:
    """What tests find. `unfair` has the tests that fail a right program: the program and the text of the exception.

    They do not count. `problem` says why no test could run.
    """

    tests: tuple[str, ...]
    right: int
    unfair: dict[str, tuple[str, str]]
    caught: tuple[Caught, ...]
    problem: str = ""

    @property
    def found_programs(self) -> int:
        """The number of wrong programs that the tests find."""
        return sum(one.found for one in self.caught)

    @property
    def programs(self) -> int:
        """The number of wrong programs."""
        return sum(one.programs for one in self.caught)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of `course hunt --tests`."""
        return {**asdict(self), "found": self.found_programs, "programs": self.programs}


def tests_file(course: Course, exercise: Exercise) -> Path:
    """Return the file of the learner's tests of an exercise."""
    return course.root / HUNT_FOLDER / f"test_{exercise.file}"


def write_template(course: Course, exercise: Exercise) -> Path | None:
    """Write a file to begin with, and return it; None if there is one."""
    file = tests_file(course, exercise)
    make_folder(file.parent, below=course.root)
    if os.path.lexists(file):
        return None
    write_atomically(file, TEMPLATE.format(id=exercise.id), below=course.root)
    return file


def score_tests(
    course: Course, exercise: Exercise, programs: HuntFile, on_progress: Callable[[int, int], None]
) -> TestScore:
    """Run the learner's tests on all programs, each in a process of its own with the learner's rights.

    `on_progress(done, total)` is called for each program. Raises `UsageError` if the tests cannot be read.
    """
    text = _read(course, tests_file(course, exercise))
    names = tuple(function.name for function in outline_of(text).functions if function.name.startswith("test_"))
    if not names:
        raise UsageError(f"{HUNT_FOLDER}/test_{exercise.file} has no function whose name begins with test_")
    sources = [*programs.right.values(), *(hunt.source for hunt in programs.hunts)]
    failed = _run(course, exercise, text, sources, on_progress)
    problem = next((one[""] for one in failed[: len(programs.right)] if "" in one), "")
    unfair: dict[str, tuple[str, str]] = {}
    for program, one in zip(programs.right, failed, strict=False):
        for name, error in one.items():
            if name:
                unfair.setdefault(name, (program, error))
    found: dict[str, list[bool]] = {}
    for hunt, one in zip(programs.hunts, failed[len(programs.right) :], strict=True):
        found.setdefault(hunt.misconception, []).append(bool(set(one) - set(unfair)) and not problem)
    caught = [_caught(course, name, results) for name, results in sorted(found.items())]
    return TestScore(names, len(programs.right), unfair, tuple(caught), problem)


def _caught(course: Course, misconception: str, results: Sequence[bool]) -> Caught:
    known = describe(course, misconception)
    return Caught(misconception, known.name if known else misconception, sum(results), len(results))


def _read(course: Course, file: Path) -> str:
    try:
        text = read_text(file, MOST_BYTES, below=course.root)
        compile(text, file.name, "exec", dont_inherit=True)
    except OSError as error:
        raise UsageError(f"{HUNT_FOLDER}/{file.name} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{HUNT_FOLDER}/{file.name} cannot be read: {error}") from None
    except SyntaxError as error:
        raise UsageError(f"{HUNT_FOLDER}/{file.name}, line {error.lineno}: {error.msg}") from None
    return text


def _run(
    course: Course, exercise: Exercise, text: str, sources: Sequence[str], on_progress: Callable[[int, int], None]
) -> list[dict[str, str]]:
    """Return for each program which tests fail on it. Earlier exercises come from the solutions, or are your own."""
    needed = course.solutions_dir if course.solutions_dir.is_dir() else course.exercises_dir
    request = {"path": [str(needed)], "libraries": course.libraries, "module": exercise.id, "tests": text}
    process = ending.started(
        lambda: subprocess.Popen(
            [sys.executable, "-m", "autograder.practice.trials"],
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
    )
    failed: list[dict[str, str]] = []
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({**request, "programs": sources}))
        process.stdin.close()
        for line in process.stdout:
            failed.append(json.loads(line))
            on_progress(len(failed), len(sources))
        process.stdout.close()
        process.wait()
    finally:
        process.kill()
        ending.forget(process)
    if len(failed) < len(sources):
        raise UsageError("the process that runs your tests ended too early; look at its message above")
    return failed


# The command.


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    does = "1: one file; 2: a file for each exercise that EX needs too, with the fault in one of them"
    parser.add_argument("--level", type=int, choices=(1, 2), default=1, metavar="N", help=does)
    parser.add_argument("--seed", type=int, metavar="N", help="draw another program (default: one not solved yet)")
    parser.add_argument("--new", action="store_true", help="draw again, although a hunt is open")
    parser.add_argument("--predict", metavar="N", help="answer what the program gives")
    parser.add_argument("--line", metavar="LINE", help="answer which line is wrong: 41, or ex05:41 with several files")
    parser.add_argument("--name", metavar="N", help="answer what the mistake is")
    parser.add_argument("--check", action="store_true", help="run the checks on your repair")
    parser.add_argument("--answer", action="store_true", help="give up, and show the answer")
    does = "write tests of EX instead: they must pass right programs, and find wrong ones"
    parser.add_argument("--tests", action="store_true", help=does)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command: draw a hunt, answer its questions, or check the repair."""
    course = read_course(find_course())
    screen = Screen.of(options)
    if options.tests:
        return _tests(options, course, screen)
    current = open_hunt(course)
    answers = [options.predict, options.line, options.name]
    if current is None or options.new or (options.exercise and not options.check and not any(answers)):
        if options.check or options.answer or any(answers):
            raise UsageError("there is no open hunt; `course hunt` draws one")
        _refuse_to_replace(course, current, options)
        current = _new_hunt(options, course)
    elif options.answer:
        finish(course, current)
        _show_answer(screen, course, current)
        return PASS
    elif options.check:
        return _check(options, screen, course, current)
    for question, given in (("predict", options.predict), ("line", options.line), ("name", options.name)):
        if given:
            current = _answered(screen, course, current, question, given, quiet=options.json == "-")
    if write_json(options.json, _data(current)):
        return PASS
    if not any(answers):
        _show(screen, current)
        current = _ask(screen, course, current)
    screen.gap()
    commands = [(f"edit {HUNT_FOLDER}/", "repair the fault, then course hunt --check")]
    screen.next([*commands, ("course hunt --answer", "give up, and see the answer")])
    return PASS


def _tests(options: argparse.Namespace, course: Course, screen: Screen) -> int:
    """Score the learner's own tests, or write a file to begin with."""
    exercise = exercise_meant(course, read_progress(course), options.exercise)
    again = f"course hunt {exercise.number} --tests"
    if (file := write_template(course, exercise)) is not None:
        name = file.relative_to(course.root).as_posix()
        screen.text(f"{name} is for your tests of {exercise.id}. They get a program, and look for a fault.", indent=0)
        screen.next([(f"edit {name}", f"then {again}")])
        return PASS
    programs = programs_for(course, exercise, show_programs)
    score = score_tests(course, exercise, programs, show_tested)
    is_good = not score.problem and not score.unfair and score.found_programs == score.programs
    if write_json(options.json, score.to_json()):
        return PASS if is_good else FAIL
    if score.problem:
        screen.text(f"Your tests could not run: {score.problem}", indent=0, style="red")
        return FAIL
    for test, (program, text) in score.unfair.items():
        screen.text(f"{test} fails on the right program {program}, so it does not count. {text}", indent=0)
    for one in score.caught:
        mark = "found " if one.found == one.programs else "missed" if not one.found else "partly"
        screen.text(f"{one.found} of {one.programs}  {one.name}", label=mark)
    programs_found = f"{score.found_programs} of {plural(score.programs, 'wrong program')}"
    fair = len(score.tests) - len(score.unfair)
    screen.text(f"{plural(fair, 'test')} found {programs_found}; all {score.right} right programs pass them.", indent=0)
    screen.next([(again, "after your next edit")])
    return PASS if is_good else FAIL


def _refuse_to_replace(course: Course, current: OpenHunt | None, options: argparse.Namespace) -> None:
    """Raise `UsageError` if the learner has edited the programs of an open hunt, unless they want a new one."""
    if current is None or options.new:
        return
    sources = read_repair(course, current).sources
    edited = [file for file, source in sources.items() if source.decode("utf-8", "replace") != current.files[file]]
    if edited:
        raise UsageError(
            f"you have edited {HUNT_FOLDER}/{edited[0]} of an open hunt; `course hunt --check` checks it, and "
            "`course hunt --new` draws another one and replaces your edits"
        )


def _new_hunt(options: argparse.Namespace, course: Course) -> OpenHunt:
    exercise = exercise_meant(course, read_progress(course), options.exercise)
    with closing(KeyProgress(plain=options.plain)) as line:
        return draw(
            course,
            exercise,
            level=options.level,
            seed=options.seed,
            on_progress=show_programs,
            on_tried=show_tried,
            on_key=line.on_progress,
        )


def _show(screen: Screen, hunt: OpenHunt) -> None:
    files = [f"{HUNT_FOLDER}/{file}" for file in hunt.files]
    where = files[0] if len(files) == 1 else f"one of the {len(files)} files in {HUNT_FOLDER}/"
    screen.text(f"There is one fault in {where}. It was written in another style than the solution.", indent=0)


def _ask(screen: Screen, course: Course, hunt: OpenHunt) -> OpenHunt:
    """Ask the questions, one after the other where somebody can answer; else print how to answer them."""
    can_answer = is_somebody_there()
    for key, choice in (("predict", hunt.predict), ("line", None), ("name", hunt.name)):
        if key in hunt.answers:
            continue
        screen.gap()
        question = choice.question if choice is not None else "On which line is the fault?"
        screen.choices(f"{question} (--{key})", choice.answers if choice is not None else ())
        given = typed("Your answer, or Enter to skip:") if can_answer else ""
        if given:
            try:
                hunt = _answered(screen, course, hunt, key, given)
            except UsageError as error:
                warn(str(error))
    return hunt


def _answered(screen: Screen, course: Course, hunt: OpenHunt, key: str, given: str, *, quiet: bool = False) -> OpenHunt:
    """Note an answer, and say whether it is right. Raises `UsageError` if it is none of the answers."""
    choice = {"predict": hunt.predict, "name": hunt.name}.get(key)
    is_right = finds_line(hunt, given) if choice is None else chosen(given, choice.answers) == choice.right
    hunt = answer(course, hunt, key, is_right)
    if not quiet:
        wrong = f"It is {choice.right + 1}." if choice is not None else "The fault is on another line."
        screen.text("Right." if is_right else f"No. {wrong}", label=key, indent=0)
    return hunt


def _check(options: argparse.Namespace, screen: Screen, course: Course, hunt: OpenHunt) -> int:
    with closing(KeyProgress(plain=screen.plain)) as line:
        report = judge(course, hunt, read_repair(course, hunt), line.on_progress)
    is_repaired = report.statuses == {"pass"}
    if not write_json(options.json, {**_data(hunt), "repaired": is_repaired}):
        if is_repaired:
            screen.text("Repaired: every check passes.", indent=0, style="green")
            _show_answer(screen, course, hunt)
        else:
            _show_failing(screen, report)
    return PASS if is_repaired else FAIL


def _show_failing(screen: Screen, report: Report) -> None:
    show_not_yet(screen, next(exercise for exercise in report.exercises if exercise.status != "pass"))
    screen.next([("course hunt --check", "after your next edit"), ("course hunt --answer", "see the answer")])


def show_not_yet(screen: Screen, result: ExerciseResult) -> None:
    """Print how many checks pass, and the first that fails, without its diagnosis: that is the learner's to find."""
    passing = sum(check.status == "pass" for check in result.checks)
    title = f" It fails: {result.first_failure.title}." if result.first_failure is not None else ""
    count = f"{passing} of {plural(len(result.checks), 'check')} of {result.id}"
    screen.text(f"Not yet: {count} pass.{title}", indent=0)


def _show_answer(screen: Screen, course: Course, hunt: OpenHunt) -> None:
    known = describe(course, hunt.misconception)
    screen.text(f"The fault was on line {hunt.lines[0]} of {HUNT_FOLDER}/{hunt.faulty}.", indent=0)
    text = hunt.files[hunt.faulty].splitlines()
    screen.text(text[hunt.lines[0] - 1].strip() if hunt.lines[0] <= len(text) else "")
    if known is not None:
        screen.text(f"{known.name[:1].upper()}{known.name[1:]}. {known.explanation}", indent=0)
    right = sum(hunt.answers.values())
    if hunt.answers:
        count = plural(len(hunt.answers), "answer")
        screen.text(f"{right} of {count} right at the first attempt.", indent=0)


def _data(hunt: OpenHunt) -> dict[str, object]:
    """Return the JSON of a hunt, without the right answers."""
    return {
        "hunt": hunt.id,
        "exercise": hunt.exercise,
        "files": [f"{HUNT_FOLDER}/{file}" for file in hunt.files],
        "predict": {"question": hunt.predict.question, "answers": hunt.predict.answers},
        "name": {"question": hunt.name.question, "answers": hunt.name.answers},
        "answers": dict(hunt.answers),
    }
