"""Find, name and repair the fault in a program.

It writes a program with one fault to hunt/. It asks what the program gives, which line is wrong, and what the mistake
is. Repair it in the file, then run `course hunt --check`.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
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
    FOLDER,
    HUNTS,
    WHOLE,
    Course,
    Example,
    Exercise,
    Grid,
    Hunt,
    HuntFile,
    UsageError,
    describe,
    find_course,
    folder_lock,
    kit_hunts,
    load_suite,
    make_folder,
    named_in,
    nothing_to_hunt,
    read_course,
    read_hunts,
    read_plain,
    read_text,
    remove,
    set_aside,
    state_folder,
    write_atomically,
)
from autograder.ending import FAIL, PASS
from autograder.formats import Unreadable, decode, read_json
from autograder.progress import check_submission, exercise_meant, read_progress, write_json
from autograder.protocol import outline_of
from autograder.report import plural
from autograder.results import ExerciseResult, Report
from autograder.submission import Submission, digest

# The programs to practise on: those of a kit, or those that a course with solutions makes for itself, once.

OnProgress = Callable[[int, int], None]
OnTried = Callable[[int, bool], None]
OnKey = Callable[[str, int, int], None]


def programs_for(course: Course, exercise: Exercise, on_progress: OnProgress) -> HuntFile:
    """Return the programs of an exercise. The first time, a course with solutions makes them, in about a minute.

    Raises `UsageError` if there are none.
    """
    found = read_hunts(kit_hunts(course, exercise))
    if found is None and (course.solutions_dir / exercise.file).is_file():
        found = _own(course, exercise, on_progress)
    if found is None:
        raise UsageError(_no_programs(exercise))
    return found


def one_program_for(
    course: Course,
    exercise: Exercise,
    generator: random.Random,
    done: Container[str],
    *,
    on_tried: OnTried,
    on_key: OnKey,
) -> HuntFile:
    """Return the programs of an exercise if they are there, else one that is not in `done`, which takes seconds.

    Raises `UsageError` if there are none.
    """
    if (found := read_hunts(kit_hunts(course, exercise))) is not None:
        return found
    if not (course.solutions_dir / exercise.file).is_file():
        raise UsageError(_no_programs(exercise))
    from autograder.authoring import make_one  # an application beside this one

    found = read_hunts(_own_file(course, exercise))
    return found or make_one(course, exercise, generator, done, on_tried=on_tried, on_key=on_key)


def _no_programs(exercise: Exercise) -> str:
    return (
        f"this kit has no programs to practise {exercise.id} on; who releases it chooses them with "
        f"`course release DIR --hunt {exercise.number}`"
    )


def _own_file(course: Course, exercise: Exercise) -> Path:
    from autograder.authoring import digest_of_programs  # an application beside this one

    folder = state_folder(course.root, "cache", HUNTS)
    return folder / f"{exercise.id}-{digest_of_programs(course, exercise)[:16]}.json"


def _own(course: Course, exercise: Exercise, on_progress: OnProgress) -> HuntFile:
    from autograder.authoring import make_hunts  # an application beside this one

    file = _own_file(course, exercise)
    found = read_hunts(file)
    if found is None:
        found = make_hunts(course, exercise, on_progress=on_progress)
        for old in file.parent.glob(f"{exercise.id}-*.json"):
            remove(old)
        write_atomically(file, found.to_json())
    return found


# What a learner has practised, in `.course/practice.json`: the open hunt, finished hunts, and cards to review.

FILE = "practice.json"


@dataclass
class Practice:
    """The stored data. `open` is the hunt that is not finished, `hunts` the answers to the others by their ids.

    `cards` has the schedule of each question for `course review`.
    """

    open: dict[str, Any] | None = None
    hunts: dict[str, Any] = field(default_factory=dict)
    cards: dict[str, Any] = field(default_factory=dict)


def read_practice(course: Course) -> Practice:
    """Return what was stored; nothing if there is no such file, or it cannot be read."""
    return _read_practice(course) or Practice()


def _read_practice(course: Course) -> Practice | None:
    try:
        return read_json(Practice, read_plain(course.root / FOLDER / FILE))
    except (OSError, Unreadable):
        return None


@contextmanager
def changing(course: Course) -> Iterator[Practice]:
    """Yield the stored data, and store it again as the caller changed it. Raises OSError."""
    folder = state_folder(course.root)
    with folder_lock(folder):
        practice = _read_practice(course)
        if practice is None:
            set_aside(folder / FILE)
            practice = Practice()
        yield practice
        write_atomically(folder / FILE, json.dumps(asdict(practice), indent=1) + "\n")


# Questions with four answers to choose from, in an order that looks random and is always the same.

MOST_ANSWERS = 4


@dataclass(frozen=True)
class Choice:
    """A question with answers to choose from; `right` is the index of the right one."""

    question: str
    answers: tuple[str, ...]
    right: int


def make_choice(question: str, right: str, others: Iterable[str], salt: str) -> Choice:
    """Return a question with the right answer and some of the others."""
    chosen = sorted(set(others) - {right}, key=lambda text: text_hash(f"{salt} {text}"))[: MOST_ANSWERS - 1]
    answers = sorted([right, *chosen], key=lambda text: text_hash(f"{salt} {question} {text}"))
    return Choice(question, tuple(answers), answers.index(right))


def text_hash(text: str) -> str:
    """Return the hash that orders texts."""
    return hashlib.sha256(text.encode()).hexdigest()


HUNT_FOLDER = "hunt"
"""Where the programs are written to, in the folder of the course."""

MOST_BYTES = 1 << 20
"""A larger program was not written for a hunt or a puzzle."""


@dataclass(frozen=True)
class OpenHunt:
    """A hunt that was drawn. `files` are its programs, as written; one of them has the fault, on one of the `lines`.

    `answers` says of each question that was answered whether the answer was right.
    """

    id: str
    exercise: str
    misconception: str
    faulty: str
    lines: tuple[int, ...]
    files: Mapping[str, str]
    predict: Choice
    name: Choice
    answers: Mapping[str, bool] = field(default_factory=dict)


def open_hunt(course: Course) -> OpenHunt | None:
    """Return the hunt that is not finished, if there is one."""
    data = read_practice(course).open
    try:
        return decode(OpenHunt, data) if data is not None else None
    except Unreadable:
        return None


def draw(
    course: Course,
    exercise: Exercise,
    *,
    level: int,
    seed: int | None,
    on_progress: OnProgress,
    on_tried: OnTried = lambda *_: None,
    on_key: OnKey = lambda *_: None,
) -> OpenHunt:
    """Draw a hunt, write its programs, and return it. Without a seed, those not solved yet come first.

    On level 2 there is one file for the exercise and for each that it needs, and the fault is in any of them. Raises
    `UsageError` if there is nothing to hunt in.
    """
    done = read_practice(course).hunts
    number = len(done) if seed is None else seed
    generator = random.Random(f"{exercise.id} {level} {number}")
    if level == 1:
        known = done if seed is None else {}
        programs = one_program_for(course, exercise, generator, known, on_tried=on_tried, on_key=on_key)
        hunt = _choose(programs, generator, known)
        files, faulty = {exercise.file: hunt.source}, exercise
    else:
        faulty, programs, hunt, files = _choose_among_files(course, exercise, generator, on_progress)
    drawn = OpenHunt(
        hunt.id,
        exercise.id,
        hunt.misconception,
        faulty.file,
        hunt.lines,
        files,
        _prediction(course, faulty, programs, hunt),
        _naming(course, faulty, hunt),
    )
    _write(course, drawn)
    return drawn


def answer(course: Course, hunt: OpenHunt, question: str, is_right: bool) -> OpenHunt:
    """Note the first answer to a question; a later one does not count."""
    answered = replace(hunt, answers={question: is_right, **hunt.answers})
    with changing(course) as practice:
        practice.open = asdict(answered)
    return answered


def finds_line(hunt: OpenHunt, text: str) -> bool:
    """Return whether a line, as `41` or `ex05:41`, is one of the faulty lines. Raises `UsageError` if it is no line."""
    file, _, line = text.rpartition(":")
    if not line.isdecimal():
        raise UsageError(f"{text!r} is no line; write its number, such as 41, or with its file, such as ex05:41")
    if not file and len(hunt.files) > 1:
        raise UsageError(f"there are {len(hunt.files)} files; write the line with its file, such as ex05:41")
    return int(line) in hunt.lines and (not file or hunt.faulty.startswith(file.removesuffix(".py")))


def read_repair(course: Course, hunt: OpenHunt) -> Submission:
    """Return the programs as the learner left them. Raises `UsageError` if one is missing."""
    sources = {}
    for file in hunt.files:
        try:
            sources[file] = read_plain(course.root / HUNT_FOLDER / file, MOST_BYTES, below=course.root)
        except OSError as error:
            problem = f"{HUNT_FOLDER}/{file} cannot be read ({error.strerror})"
            raise UsageError(f"{problem}; `course hunt --new` draws another one") from None
    return Submission("hunt", course.files, sources, digest(sources), ())


def judge(
    course: Course, hunt: OpenHunt, submission: Submission, on_progress: Callable[[str, int, int], None]
) -> Report:
    """Run the checks of every program of a hunt. It is repaired if all pass. The first verdict is noted.

    `on_progress(exercise, done, total)` reports how far a new answer key is.
    """
    exercises = [exercise for exercise in course.exercises if exercise.file in hunt.files]
    report = check_submission(course, exercises, submission, seed=course.seed, on_progress=on_progress)
    is_repaired = report.statuses == {"pass"}
    answered = answer(course, hunt, "repair", is_repaired)
    if is_repaired:
        finish(course, answered)
    return report


def finish(course: Course, hunt: OpenHunt) -> None:
    """Close a hunt, and keep how its questions were answered."""
    with changing(course) as practice:
        practice.open = None
        practice.hunts[hunt.id] = {"misconception": hunt.misconception, **hunt.answers}


def grid_text(grid: Grid) -> str:
    """Return numbers in rows on one line."""
    return "; ".join(" ".join(row) for row in grid)


def _choose(programs: HuntFile, generator: random.Random, done: Mapping[str, Any]) -> Hunt:
    new = [hunt for hunt in programs.hunts if hunt.id not in done] or list(programs.hunts)
    if not new:
        raise UsageError(nothing_to_hunt(programs))
    by_misconception: dict[str, list[Hunt]] = {}
    for hunt in new:
        by_misconception.setdefault(hunt.misconception, []).append(hunt)
    return generator.choice(by_misconception[generator.choice(sorted(by_misconception))])


def _choose_among_files(
    course: Course, exercise: Exercise, generator: random.Random, on_progress: OnProgress
) -> tuple[Exercise, HuntFile, Hunt, dict[str, str]]:
    """Draw an exercise with the fault among those needed, and the right programs of the others in the same style."""
    needed = course.with_needs(exercise)
    if len(needed) == 1:
        raise UsageError(f"{exercise.id} needs no other exercise; level 2 hunts in several, such as `course hunt 10`")
    for faulty in generator.sample(needed, len(needed)):
        programs = programs_for(course, faulty, on_progress)
        hunts = [hunt for hunt in programs.hunts if hunt.variant.startswith(WHOLE)]
        for hunt in generator.sample(hunts, len(hunts)):
            right = {other.file: _right(course, other, hunt.variant, on_progress) for other in needed}
            files = {file: text for file, text in right.items() if text is not None}
            if len(files) == len(needed):
                return faulty, programs, hunt, {**files, faulty.file: hunt.source}
    raise UsageError(f"no style of the accepted variants has all files that {exercise.id} needs; use level 1")


def _right(course: Course, exercise: Exercise, variant: str, on_progress: OnProgress) -> str | None:
    """Return a right program in the style of a variant: from the solutions, so that nothing is made for it."""
    own = course.solutions_dir / "accepted" / variant / exercise.file
    if own.is_file():
        return own.read_text("utf-8")
    return programs_for(course, exercise, on_progress).right.get(variant)


def _prediction(course: Course, exercise: Exercise, programs: HuntFile, hunt: Hunt) -> Choice:
    """Return the question what the program gives in the lesson's example, or else which check fails first."""
    if hunt.example is not None:
        question = f"In the example of the lesson, what does this program give for: {hunt.example.title}?"
        return make_choice(question, grid_text(hunt.example.wrong), other_numbers(programs, hunt.example), hunt.id)
    titles = {check.id: check.title for check in load_suite(course, [exercise]).checks[exercise.id]}
    passing = [title for id_, title in titles.items() if id_ not in hunt.checks]
    if not passing:
        return make_choice("Which check passes?", "none", titles.values(), hunt.id)
    return make_choice("Which check fails?", titles.get(hunt.checks[0], hunt.checks[0]), passing, hunt.id)


def other_numbers(programs: HuntFile, example: Example) -> set[str]:
    """Return what other programs give in the same step of the example, and what it is on paper."""
    examples = [other.example for other in programs.hunts if other.example and other.example.title == example.title]
    return {grid_text(example.paper), *(grid_text(one.wrong) for one in examples)}


def _naming(course: Course, exercise: Exercise, hunt: Hunt) -> Choice:
    known = describe(course, hunt.misconception)
    name = known.name if known is not None else hunt.misconception
    others = named_in(course, exercise, besides=hunt.misconception).values()
    return make_choice("What is the mistake?", name, others, hunt.id)


def _write(course: Course, hunt: OpenHunt) -> None:
    folder = course.root / HUNT_FOLDER
    make_folder(folder, below=course.root)
    for file, text in hunt.files.items():
        write_atomically(folder / file, text, below=course.root)
    with changing(course) as practice:
        practice.open = asdict(hunt)


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
