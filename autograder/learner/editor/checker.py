"""The session of an editor, in a thread of its own: it checks what is opened and saved."""

import threading
from collections.abc import Mapping
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.storage import read_text
from autograder.course.suite import load_suite
from autograder.judge.budget import SELF_CHECK
from autograder.judge.grader import Grader
from autograder.learner.editor.screen import EditorScreen, Listener
from autograder.learner.progress import Progress
from autograder.learner.progress.record import record
from autograder.learner.watch.keyboard import Keyboard
from autograder.learner.watch.session import Session
from autograder.results import Report
from autograder.runner.runner import Cancelled


class Checker:
    """Checks the exercises of one course on a worker that stays warm, as `course watch` does."""

    def __init__(self, course: Course, listener: Listener, exercise: Exercise) -> None:
        self.course = course
        self.listener = listener
        self.screen = EditorScreen(course, listener, self._read)
        self.problem = ""
        self._session: Session | None = None
        self._waiting = [exercise]
        self._lock = threading.Lock()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="session", daemon=True)
        self._thread.start()

    def check(self, exercise: Exercise, *, at_once: bool) -> None:
        """Check an exercise: when there is time, or `at_once`."""
        with self._lock:
            if self._session is None:
                self._waiting = [*(one for one in self._waiting if one != exercise), exercise]
            else:
                self._session.request(exercise, at_once=at_once)

    def saved(self, exercise: Exercise) -> None:
        """Check an exercise whose file was saved. The session itself sees a change of what it watches."""
        with self._lock:
            session = self._session
        if session is None or exercise != session.exercise:
            self.check(exercise, at_once=True)
        else:
            session.keyboard.wake()

    def close(self) -> None:
        """End every worker, and the thread."""
        with self._lock:
            self._is_closed = True
            if self._session is not None:
                self._session.leave()
                self._session.keyboard.wake()
        self._thread.join()

    def _read(self, exercise: Exercise) -> str:
        try:
            return read_text(self.course.exercises_dir / exercise.file, below=self.course.root)
        except (OSError, ValueError):
            return ""

    def _run(self) -> None:
        try:
            self._check_until_left()
        except Cancelled:
            pass
        except Exception as error:  # whatever it is, the editor must say why nothing is checked any more
            self.problem = f"The exercises cannot be checked: {error or type(error).__name__}"
            self.listener.failed(self.problem)

    def _check_until_left(self) -> None:
        suite = load_suite(self.course)
        with Grader(suite, seed=self.course.seed, evidence=True, remember=True, budget=SELF_CHECK) as grader:
            session = Session(grader, self.screen, Keyboard(), self._save_result, lambda *_: None)
            with self._lock:
                first, *others = self._waiting
                for exercise in others:
                    session.request(exercise, at_once=False)
                session.exercise = first
                self._session = session
                if self._is_closed:
                    return
            try:
                session.run(first)
            finally:
                session.close()

    def _save_result(self, course: Course, report: Report, sources: Mapping[str, bytes]) -> Progress:
        saved = record(course, report, sources, command="lsp")
        if saved.warning:
            self.listener.log(saved.warning)
        return saved.progress


def exercise_of(course: Course, file: Path) -> Exercise | None:
    """Return the exercise whose file this is; None for any other file."""
    if file.parent.resolve() != course.exercises_dir.resolve():
        return None
    return next((exercise for exercise in course.exercises if exercise.file == file.name), None)
