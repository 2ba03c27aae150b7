"""The work that counts for each watched exercise: its file, or its notebook if only that has work."""

from collections.abc import Iterable
from dataclasses import dataclass
from os.path import lexists

from autograder.course import Course, Exercise
from autograder.learner.watch.files import Content, Files
from autograder.submission import Caps
from autograder.submission.files import FileError
from autograder.submission.notebook import Cells, Notebook, read_notebook
from autograder.submission.own_work import NOTEBOOKS, stubs_of
from autograder.submission.submission import notebook_of


@dataclass(frozen=True)
class WorkSource:
    """The work that counts: its name below the folder, its source, and the cells of a notebook.

    If it cannot be read, `problem` completes a sentence that begins with its name. `beside` is the name of a notebook
    that has work too but does not count.
    """

    name: str
    source: bytes = b""
    cells: Cells = ()
    problem: str | None = None
    beside: str | None = None


class Work:
    """The work on some exercises on disk, polled. The rules for what counts are those of `course check`."""

    def __init__(self, course: Course, exercises: Iterable[Exercise]) -> None:
        exercises = tuple(exercises)
        self.names = tuple(exercise.file for exercise in exercises)
        self._books = {name: f"{NOTEBOOKS}/{notebook_of(name)}" for name in self.names}
        self._folder = course.exercises_dir
        self._given = stubs_of(course, exercises)
        caps = Caps(source_kib=course.limits.source_kib)
        self._limit = caps.source_bytes
        self._files = Files(self._folder, self.names, caps)
        self._notebooks = Files(self._folder, self._books.values(), Caps(source_kib=caps.notebook_kib))
        self._read = {name: self._notebook(name) for name in self.names}
        self._counted = {name: self._counts(name) for name in self.names}

    def __getitem__(self, name: str) -> WorkSource:
        """Return the work that counts for the exercise with that file."""
        return self._counted[name]

    def changed(self) -> tuple[str, ...]:
        """Poll once, and return the names of work whose code has changed; outputs of a notebook do not matter."""
        touched = set(self._notebooks.changed())
        changed = list(self._files.changed())
        for name, book in self._books.items():
            if book in touched:
                before, self._read[name] = self._read[name], self._notebook(name)
                changed += [book] if self._read[name] != before else []
        if touched or changed:
            self._counted = {name: self._counts(name) for name in self.names}
        return tuple(changed)

    def _notebook(self, name: str) -> Notebook | str | None:
        """Return the notebook of an exercise, its problem, or None if there is no notebook."""
        book = self._books[name]
        content = self._notebooks[book]
        if content.problem is not None:
            return content.problem if lexists(self._folder / book) else None
        try:
            return read_notebook(content.source, self._limit)
        except FileError as error:
            return str(error)

    def _counts(self, name: str) -> WorkSource:
        own, book, book_name = self._files[name], self._read[name], self._books[name]
        if isinstance(book, Notebook) and self._given.is_notebook(notebook_of(name), book, self._limit):
            book = None  # as handed out
        if book is None or self._is_started(name, own):
            beside = book_name if isinstance(book, Notebook) else None
            return WorkSource(name, own.source, problem=own.problem, beside=beside)
        if isinstance(book, str):
            return WorkSource(book_name, problem=book)
        return WorkSource(book_name, book.source, book.cells)

    def _is_started(self, name: str, own: Content) -> bool:
        return own.problem is None and not self._given.is_stub(name, own.source)
