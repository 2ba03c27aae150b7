"""Find leaks in the texts of one exercise within a second, long before a kit is made."""

import json
from collections.abc import Iterator

from autograder.authoring.leaks import Gate, Leak
from autograder.authoring.leaks_secrets import CatalogueError, StubError, secrets_of
from autograder.course import Course, Exercise
from autograder.course.misconceptions import CATALOGUE, catalogue
from autograder.course.problems import COURSE_FILE
from autograder.submission.own_work import NOTEBOOKS
from autograder.submission.submission import notebook_of


def leaking_texts(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each text with a line of a program of this exercise, for which no kit could be made."""
    try:
        files = dict(_texts(course, exercise))
        if Gate(secrets_of(course, exercise)).leaks(files.items()):
            # Few exercises come here: to read all files that may make a line public takes seconds.
            own = [secret for secret in secrets_of(course) if exercise.id in secret.exercises]
            yield from (_sentence(leak) for leak in Gate(own).leaks(files.items()))
    except (OSError, UnicodeDecodeError, StubError, CatalogueError):  # each has a sentence of its own
        return


def _sentence(leak: Leak) -> str:
    return f"{leak.sentence}; `course release` refuses this"


def _texts(course: Course, exercise: Exercise) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each text of an exercise that goes into a kit; what a stub has is public."""
    entries = {id_: texts for id_, texts in catalogue(course).items() if texts["exercise"] == exercise.id}
    checks = course.checks_dir.relative_to(course.root).as_posix()
    yield f"{checks}/{CATALOGUE}", json.dumps(entries, ensure_ascii=False).encode()
    notebook = course.exercises_dir / NOTEBOOKS / notebook_of(exercise.file)
    for file in (course.root / COURSE_FILE, course.checks_file(exercise), course.steps_file(exercise), notebook):
        if file.is_file():
            yield file.relative_to(course.root).as_posix(), file.read_bytes()
