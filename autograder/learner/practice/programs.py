"""The programs to practise on: those of a kit, or those that a course with solutions makes for itself, once."""

from collections.abc import Callable

from autograder.course import Course, Exercise
from autograder.course.hunts import HUNTS, HuntFile, kit_hunts, read_hunts
from autograder.course.names import UsageError
from autograder.course.storage import remove, state_folder, write_atomically

OnProgress = Callable[[int, int], None]


def programs_for(course: Course, exercise: Exercise, on_progress: OnProgress) -> HuntFile:
    """Return the programs of an exercise. The first time, a course with solutions makes them, in about a minute.

    Raises `UsageError` if there are none.
    """
    found = read_hunts(kit_hunts(course, exercise))
    if found is None and (course.solutions_dir / exercise.file).is_file():
        found = _own(course, exercise, on_progress)
    if found is None:
        raise UsageError(
            f"this kit has no programs to practise {exercise.id} on; who releases it chooses them with "
            f"`course release DIR --hunt {exercise.number}`"
        )
    return found


def _own(course: Course, exercise: Exercise, on_progress: OnProgress) -> HuntFile:
    from autograder.authoring.hunts import digest_of_programs, make_hunts

    folder = state_folder(course.root, "cache", HUNTS)
    file = folder / f"{exercise.id}-{digest_of_programs(course, exercise)[:16]}.json"
    found = read_hunts(file)
    if found is None:
        found = make_hunts(course, exercise, on_progress=on_progress)
        for old in folder.glob(f"{exercise.id}-*.json"):
            remove(old)
        write_atomically(file, found.to_json())
    return found
