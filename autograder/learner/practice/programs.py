"""The programs to practise on: those of a kit, or those that a course with solutions makes for itself, once."""

import random
from collections.abc import Callable, Container
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.hunts import HUNTS, HuntFile, kit_hunts, read_hunts
from autograder.course.names import UsageError
from autograder.course.storage import remove, state_folder, write_atomically

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
    from autograder.authoring.hunts import make_one

    found = read_hunts(_own_file(course, exercise))
    return found or make_one(course, exercise, generator, done, on_tried=on_tried, on_key=on_key)


def _no_programs(exercise: Exercise) -> str:
    return (
        f"this kit has no programs to practise {exercise.id} on; who releases it chooses them with "
        f"`course release DIR --hunt {exercise.number}`"
    )


def _own_file(course: Course, exercise: Exercise) -> Path:
    from autograder.authoring.hunts import digest_of_programs

    folder = state_folder(course.root, "cache", HUNTS)
    return folder / f"{exercise.id}-{digest_of_programs(course, exercise)[:16]}.json"


def _own(course: Course, exercise: Exercise, on_progress: OnProgress) -> HuntFile:
    from autograder.authoring.hunts import make_hunts

    file = _own_file(course, exercise)
    found = read_hunts(file)
    if found is None:
        found = make_hunts(course, exercise, on_progress=on_progress)
        for old in file.parent.glob(f"{exercise.id}-*.json"):
            remove(old)
        write_atomically(file, found.to_json())
    return found
