"""A hunt: a program with one fault. Predict what it gives, find the line, name the mistake, and repair it."""

import hashlib
import json
import random
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

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
    folder_lock,
    kit_hunts,
    load_suite,
    make_folder,
    named_in,
    nothing_to_hunt,
    read_hunts,
    read_plain,
    remove,
    set_aside,
    state_folder,
    write_atomically,
)
from autograder.formats import Unreadable, decode, read_json
from autograder.progress import check_submission
from autograder.results import Report
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
    """Yield what was stored, and store what becomes of it. Raises OSError."""
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
