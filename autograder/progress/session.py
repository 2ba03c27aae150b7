"""The session of `course watch`: polls the files, checks them at every save, and obeys the keys."""

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from os.path import lexists
from pathlib import Path

from autograder.answer_key import AnswerKey
from autograder.comparison import Expected
from autograder.course import Course, Exercise, Suite
from autograder.judge import Grader, Shapes, Verdicts, result_of
from autograder.protocol import code_of
from autograder.results import ExerciseResult, Place, Report
from autograder.runner import NO_SURVEY, Cancelled, Fault, Runner
from autograder.submission import (
    NOTEBOOKS,
    Caps,
    Cells,
    FileError,
    Notebook,
    Submission,
    SubmissionError,
    notebook_of,
    read_notebook,
    read_own,
    read_plain,
    reason,
    stubs_of,
)

from .events import Progress, digest_of, read_progress
from .next_steps import near_file, take_hint
from .session_screen import AFTERWARDS, CHECKING, STARTING_OVER, Keyboard, Screen, unexplained

# One check of an exercise, in a thread and a process of its own, that can be cancelled at any time.


class RunningCheck:
    """A check that has started. Its thread calls `on_news` when the verdict is there, and when it is over.

    Between the two it proves where the mistake is, which may take a second or two. `shapes` has the shape of the last
    tensor that each line made, if `with_shapes`.
    """

    def __init__(
        self,
        grader: Grader,
        runner: Runner,
        submission: Submission,
        exercise: Exercise,
        on_news: Callable[[], None],
        *,
        with_shapes: bool = False,
    ) -> None:
        self.grader = grader
        self.runner = runner
        self.submission = submission
        self.exercise = exercise
        self.on_news = on_news
        self.with_shapes = with_shapes
        self.shapes: Shapes = {}
        self.over = False
        self.verdict: Report | None = None
        self._report: Report | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._check, name="check", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether its worker may still run."""
        return self._thread.is_alive()

    @property
    def report(self) -> Report:
        """The report, once it is over. Raises the error of the check, such as `EnvironmentProblem`."""
        if self._report is None:
            raise self._error or Cancelled
        return self._report

    def activity(self) -> str:
        """Return in a few words what it is doing."""
        at = self.runner.at
        if at is None:
            return "comparing with what is expected" if self.runner.ready else "starting a worker"
        exercise, key = at
        if key is None:
            return f"reading {exercise}.py"
        checks = [check.id for check in self.grader.suite.checks[exercise]]
        if key[0] not in checks:
            return f"drawing {key[0].replace('_', ' ')}"
        of = "" if exercise == self.exercise.id else f" of {exercise}"
        return f"running check {checks.index(key[0]) + 1}{of}: {key[0].replace('_', ' ')}"

    def cancel(self) -> None:
        """Cancel it. Its worker is dead when this returns, or soon after."""
        self.runner.cancel()

    def join(self) -> None:
        """Wait until its worker has ended."""
        self._thread.join()

    def _check(self) -> None:
        try:
            self._report = self.grader.report(self.submission, [self.exercise], self.runner, self._announce)
            if self.with_shapes:
                self.shapes = self.grader.shapes(self.submission, self._report.exercises[0], self.runner)
        except BaseException as error:
            self._error = error
        self.over = True
        self.on_news()
        self.runner.close()

    def _announce(self, verdict: Report) -> None:
        self.verdict = verdict
        self.on_news()


# Report syntax errors at once: the file is compiled here, never run, and no worker is needed.


@lru_cache(maxsize=32)
def syntax_fault(source: bytes, file: str) -> Fault | None:
    """Return the syntax error that importing a file would raise, if any.

    A file that is no text, or too deeply nested to compile, returns None: a worker may crash on it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code_of(source, file)
    except SyntaxError as error:
        bases = tuple(base.__name__ for base in type(error).__mro__)
        place = Place(file, max(error.lineno or 1, 1))
        return Fault(bases[0], bases, str(error.msg)[:1000], "other", (place,), at_import=True)
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return None
    return None


def syntax_result(
    suite: Suite, exercise: Exercise, seed: int, fault: Fault, source: bytes, cells: Cells
) -> ExerciseResult:
    """Return the result of an exercise whose file has that syntax error: the same as that of a worker."""
    plan = suite.plan([exercise])[exercise.id]
    empty_key = AnswerKey(dict.fromkeys(plan, Expected(None, None)), ())
    verdicts = Verdicts(suite, exercise, lambda _: empty_key, seed=seed, evidence=False)
    return result_of(verdicts.judge(dict.fromkeys(plan, fault), NO_SURVEY, source), cells={exercise.file: cells})


# Poll the files of an exercise. Polling works on every file system; change notifications do not.

COARSE_SECONDS = 3.0
"""A changed file is read again at every poll for this long: some file systems store times in whole seconds."""


def missing(folder: Path, name: str) -> str:
    """Return the problem of an exercise's file that is missing."""
    if near := near_file(folder, name):
        return f"is missing: rename {near} if that is the one"
    return f"is missing: in another terminal, `course reset {name[2:4]}` restores the stub"


@dataclass(frozen=True)
class Content:
    """The content of a file. If it cannot be read, `problem` completes a sentence that begins with its name."""

    source: bytes = b""
    problem: str | None = None


class Files:
    """Some files of a folder and their contents. Other files in the folder are ignored."""

    def __init__(self, folder: Path, names: Iterable[str], caps: Caps) -> None:
        self.folder = folder
        self.names = tuple(names)
        self.caps = caps
        self._stamps: dict[str, object] = {}
        self._unsure_until: dict[str, float] = {}
        self._contents = {name: Content() for name in self.names}
        self.changed()

    def __getitem__(self, name: str) -> Content:
        return self._contents[name]

    def changed(self) -> tuple[str, ...]:
        """Poll once, and return the names of files whose content has changed."""
        return tuple(name for name in self.names if self._has_changed(name))

    def _has_changed(self, name: str) -> bool:
        now, stamp = time.monotonic(), self._stamp(name)
        if stamp != self._stamps.get(name):
            self._stamps[name] = stamp
            self._unsure_until[name] = now + COARSE_SECONDS
        elif now > self._unsure_until[name]:
            return False
        content = self._read(name)
        before, self._contents[name] = self._contents[name], content
        return content != before

    def _stamp(self, name: str) -> object:
        """Return the metadata that change with the file."""
        try:
            status = (self.folder / name).lstat()
        except (OSError, ValueError) as error:
            return reason(error)
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode

    def _read(self, name: str) -> Content:
        try:
            return Content(read_plain(self.folder / name, self.caps.source_bytes))
        except FileError as error:
            return Content(problem=str(error) if os.path.lexists(self.folder / name) else missing(self.folder, name))


# The work that counts for each watched exercise: its file, or its notebook if only that has work.


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


POLL_SECONDS = 0.04
"""How often the files are polled: a save is noticed before the learner looks at the screen."""

QUIET_SECONDS = 0.15
"""A file that does not parse may be half written. After this long without a change it is checked as it is."""

REPORT_SECONDS = 1.0
"""How often a running check says what it is doing."""

MOST_INTERRUPTED = 2
"""Runs that saves may interrupt, one after the other. The next run ends: a busy machine gives a verdict as well."""

SaveResult = Callable[[Course, Report, Mapping[str, bytes]], Progress]
"""Saves the report on these sources, and returns the new progress."""

RunCommand = Callable[..., None]
"""Runs another command of the program, given as words."""


class Session:
    """Watches one exercise after another, until `q`. Only the thread that calls `run` prints.

    Other threads may call `request` and `leave`.
    """

    def __init__(
        self,
        grader: Grader,
        screen: Screen,
        keyboard: Keyboard,
        save_result: SaveResult,
        run_command: RunCommand,
    ) -> None:
        self.grader = grader
        self.suite = grader.suite
        self.course = grader.suite.course
        self.screen = screen
        self.keyboard = keyboard
        self.save_result = save_result
        self.run_command = run_command
        self.left = False
        self.ended_by: int | None = None
        self._spare: Runner | None = None
        self._checking: RunningCheck | None = None
        self._result: ExerciseResult | None = None
        self._ending: list[RunningCheck] = []
        self._requested: deque[Exercise] = deque()
        self._at_once: Exercise | None = None
        self._due = False
        self._hint_waits = False
        self._is_proving = False
        self._interrupted = 0
        self._is_behind = False
        self._waiting_since = 0.0
        self._requested_at = self._changed_at = self._began_at = time.monotonic()

    def run(self, exercise: Exercise) -> None:
        """Watch until somebody quits. Raises `EnvironmentProblem` if this machine cannot run checks."""
        self._prepare()
        self._switch_to(exercise)
        while not self.left:
            for key in self.keyboard.wait(POLL_SECONDS):
                self._press(key)
            self.screen.refresh()
            self.turn()

    def turn(self) -> None:
        """Obey requests, look at the files, and go on with the check."""
        self._obey_requests()
        self._poll()
        if self._due:
            self._start_when_settled()
        if self._checking is not None:
            self._attend(self._checking)

    def request(self, exercise: Exercise, *, at_once: bool) -> None:
        """Check an exercise after those requested before, or `at_once` instead of what runs."""
        if at_once:
            self._at_once = exercise
        elif exercise not in self._requested:
            self._requested.append(exercise)
        self.keyboard.wake()

    def _obey_requests(self) -> None:
        exercise, self._at_once = self._at_once, None
        if exercise == self.exercise:
            self._check_again()
        elif exercise is not None and self._must_finish():
            self._drop_request(exercise)
            self._requested.appendleft(exercise)
        elif exercise is not None:
            if self._interrupt() or self._due:
                self._requested.append(self.exercise)
            self._due = False
            self._switch_to(exercise)
        elif self._requested and self._checking is None and not self._due:
            self._switch_to(self._requested.popleft())

    def _drop_request(self, exercise: Exercise) -> None:
        with suppress(ValueError):  # in place: another thread may add one
            self._requested.remove(exercise)

    def leave(self, ended_by: int | None = None) -> None:
        """End the session soon: on a key, or on a signal."""
        self.left = True
        self.ended_by = self.ended_by or ended_by

    def close(self) -> None:
        """End every worker."""
        self.grader.cancel()
        self._cancel()
        self.screen.close()
        if self._spare is not None:
            self._spare.close()
        for check in self._ending:
            check.join()

    def _switch_to(self, exercise: Exercise) -> None:
        needed = self.course.with_needs(exercise)[:-1]
        self.exercise = exercise
        self._drop_request(exercise)
        self._result = None
        self.work = Work(self.course, [exercise, *needed])
        used = [self.work[earlier.file].name for earlier in needed]
        self.screen.opening(self.work[exercise.file].name, used, read_progress(self.course).of(exercise))
        self._note_unused_notebooks([self.work[exercise.file].beside])
        self.grader.find_keys([exercise, *self.course.with_needs(exercise)])
        self.grader.find_keys([exercise], with_misconceptions=True)
        self.grader.release()
        self._request_check()

    def _prepare(self) -> None:
        """Keep one spare worker that has loaded torch."""
        if self._spare is None:
            self._spare = Runner(self.suite, seed=self.grader.seed, device=self.grader.device, shared=True)
            self._spare.prepare()

    def _poll(self) -> None:
        changed = self.work.changed()
        if not changed:
            return
        if self._must_finish():
            self._is_behind = True
            does = AFTERWARDS
        else:
            does = STARTING_OVER if self._interrupt() else CHECKING
        if not self._due:
            self.screen.saved(changed, does)
            self._note_unused_notebooks(changed)
        self._request_check()

    def _must_finish(self) -> bool:
        """Return whether the running check may not be interrupted, because those before it were."""
        return self._checking is not None and not self._is_proving and self._interrupted >= MOST_INTERRUPTED

    def _interrupt(self) -> bool:
        """Cancel the running check for a newer text, and return whether there was one without a verdict."""
        interrupted = self._cancel()
        self._interrupted += interrupted
        return interrupted

    def _note_unused_notebooks(self, notebooks: Sequence[str | None]) -> None:
        """Print which of these notebooks do not count, although they have work."""
        for counted in map(self.work.__getitem__, self.work.names):
            if counted.beside is not None and counted.beside in notebooks:
                self.screen.say(f"{counted.name} counts, not {counted.beside}: both have work")

    def _request_check(self) -> None:
        """Check the exercise as soon as its files can be read."""
        if not self._due:
            self._requested_at = time.monotonic()
        self._due = True
        self._changed_at = time.monotonic()

    def _cancel(self) -> bool:
        """Cancel the running check, and return whether there was one without a verdict."""
        checking, self._checking = self._checking, None
        self._is_behind = False
        if checking is None:
            return False
        checking.cancel()
        self._let_end(checking)
        return not self._is_proving

    def _let_end(self, checking: RunningCheck) -> None:
        self._ending = [*(check for check in self._ending if check.alive), checking]

    def _start_when_settled(self) -> None:
        if self._checking is not None and self._waiting_since == self._changed_at:
            return
        quiet = time.monotonic() - self._changed_at >= QUIET_SECONDS
        if not quiet and not all(map(self._is_whole, self.work.names)):
            return
        file = self.exercise.file
        counted = self.work[file]
        fault = syntax_fault(counted.source, file) if counted.problem is None else None
        if self._checking is not None and counted.problem is None and fault is None:
            self._waiting_since = self._changed_at  # an earlier text is still checked
            return
        self._cancel()
        self._due = False
        self._began_at = self._requested_at
        if counted.problem is not None:
            self.screen.waiting(counted.name, counted.problem)
        elif fault is not None:
            result = syntax_result(self.suite, self.exercise, self.grader.seed, fault, counted.source, counted.cells)
            self._show(
                Report(self.course.title, {}, self.grader.suite_digest, "cpu", self.grader.isolation.name, (result,))
            )
        else:
            self._start()

    def _is_whole(self, file: str) -> bool:
        """Return whether a file looks complete: an editor may still be writing it."""
        counted = self.work[file]
        return counted.problem is None and bool(counted.source.strip()) and not syntax_fault(counted.source, file)

    def _start(self) -> None:
        try:
            submission = read_own(self.course)
        except SubmissionError as error:
            self.screen.say(f"{error}; waiting until it can be read")
            return
        self._prepare()
        assert self._spare is not None
        runner, self._spare = self._spare, None
        self._reported_at = self._began_at
        self._is_proving = False
        self._checking = RunningCheck(
            self.grader, runner, submission, self.exercise, self.keyboard.wake, with_shapes=self.screen.shows_shapes
        )

    def _attend(self, checking: RunningCheck) -> None:
        now = time.monotonic()
        if self._is_behind and (checking.verdict is not None or checking.over):
            self._show(checking.verdict or checking.report, checking.submission.sources)
            self._cancel()
            self.screen.begun(f"your newest code, {CHECKING}")
            return
        if checking.verdict is not None and not self._is_proving:
            self._is_proving = True
            self._show(checking.verdict)
            self._prepare()
        if checking.over:
            self._checking = None
            self._let_end(checking)
            if self._is_proving:
                self._show_proof(checking.report.exercises[0])
            else:
                self._show(checking.report)
            self.screen.shapes(self.exercise, checking.shapes)
            self._prepare()
        elif self._is_proving:
            return
        elif now - self._reported_at >= REPORT_SECONDS:
            self._reported_at += REPORT_SECONDS
            self.screen.running(checking.activity(), self._reported_at - self._began_at)
            if checking.runner.ready:
                self._prepare()

    def _show(self, report: Report, earlier: Mapping[str, bytes] | None = None) -> None:
        """Save a verdict and show it. `earlier` has the sources that it is about, if they have changed since."""
        counted = {name: self.work[name] for name in self.work.names}
        sources = {name: work.source for name, work in counted.items() if work.problem is None}
        text = None
        if earlier is not None:
            sources = {name: source for name, source in earlier.items() if name in counted}
            text = sources.get(self.exercise.file, b"").decode("utf-8", "replace")
        self._interrupted = 0
        progress = self.save_result(self.course, report, sources)
        self._result = report.exercises[0]
        took = time.monotonic() - self._began_at
        self.screen.result(self._result, counted[self.exercise.file].name, progress, took, earlier=text)

    def _show_proof(self, result: ExerciseResult) -> None:
        """Show where the mistake is, if that is proved now: the verdict is the same."""
        if result != self._result:
            self._result = result
            self.screen.proved(result, self.work[self.exercise.file].name, read_progress(self.course))

    def _press(self, key: str) -> None:
        if self.screen.press(key):
            return
        if key.lower() != "h":
            self._hint_waits = False
        match key.lower():
            case "h":
                self._hint()
            case "w":
                self._why()
            case "d":
                self._run_command("diff", self.exercise.number)
            case "m":
                self.screen.switch_length(self.work[self.exercise.file].name, read_progress(self.course))
            case "t":
                self._run_command("try", self.exercise.number, activity="running the lesson's example")
            case "l":
                self._run_command("list")
            case "n":
                self._next()
            case "r":
                self._check_again()
            case "q" | "\x04":
                self.leave()
            case "?" | "\n":
                self.screen.show_keys()

    def _check_again(self) -> None:
        """Check the exercise again, and the earlier ones too, although no file has changed."""
        self._cancel()
        self.grader.forget()
        self.screen.begun("checking")
        self._request_check()

    def _run_command(self, *words: str, activity: str = "") -> None:
        self.screen.run(partial(self.run_command, *words), activity)

    def _hint(self) -> None:
        """Show the next hint. It waits for an edit, unless the key is pressed again."""
        standing = read_progress(self.course).of(self.exercise)
        if not standing.hints or standing.passes_now:
            self._run_command("hint", self.exercise.number)
            return
        counted = self.work[self.exercise.file]
        digest = digest_of(counted.source) if counted.problem is None else None
        taken = take_hint(self.course, self.exercise, standing, digest, at_once=self._hint_waits)
        level, self._hint_waits = len(taken.hints), taken.waits_for_edit
        if taken.waits_for_edit:
            if self.screen.brief:
                self.screen.hint(f"Hint {level} of {taken.total}: {taken.hints[-1]}", read_progress(self.course))
            self.screen.say(f"Hint {level + 1} comes after you edit {counted.name}. Press h again to see it now.")
        elif level == standing.hints_shown:
            self.screen.say(f"Hint {level} of {taken.total} is the last one: {taken.hints[-1]}")
        else:
            self.screen.hint(f"Hint {level} of {taken.total}: {taken.hints[-1]}", read_progress(self.course))

    def _why(self) -> None:
        failure = self._result.first_failure if self._result is not None else None
        finding = failure.finding if failure is not None else None
        if finding is None or not finding.known_as:
            self.screen.say(unexplained(self._result))
        else:
            self._run_command("why", finding.id)

    def _next(self) -> None:
        progress = read_progress(self.course)
        following = progress.following(self.course, self.exercise)
        if progress.of(self.exercise).status != "pass":
            self.screen.say(f"n goes to the next exercise once {self.exercise.title} passes")
        elif following is None:
            self.screen.say("Every exercise passes: there is no next one")
        else:
            self._cancel()
            self._due = False
            self._switch_to(following)
