"""The language server: opens and saves come in, and diagnostics, lenses, hints and actions go out."""

import ast
import asyncio
import io
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from lsprotocol import types as lsp
from lsprotocol.types import CodeLens, Command, InlayHint, Position
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from rich.console import Console

from autograder import __version__
from autograder.course import (
    Course,
    CourseError,
    Exercise,
    StubError,
    UsageError,
    find_course,
    is_trusted,
    load_suite,
    read_course,
    read_text,
    stub_text,
    trust_folder,
)
from autograder.diagnosis import decides
from autograder.judge import SELF_CHECK, Grader, Shapes
from autograder.progress import (
    BEFORE_EDIT,
    Keyboard,
    Progress,
    Screen,
    Session,
    digest_of,
    encouragement,
    find_page,
    may_start,
    no_hint_reason,
    own_source,
    read_progress,
    record,
    start_of_file,
    take_hint,
)
from autograder.protocol import first_line, function_definitions, outline_of
from autograder.report import (
    AGREES,
    FailureView,
    TodoItem,
    count_of,
    duration,
    evidence_sentences,
    failure_view,
    state_of,
    todo_items,
    todo_view,
)
from autograder.results import Certainty, CheckResult, ExerciseResult, Finding, Place, Report, Todo
from autograder.runner import Cancelled
from autograder.submission import SubmissionError

# A result as diagnostics of the Language Server Protocol: the first failure, at its line.

SOURCE = "course"
"""What editors show as the origin of a diagnostic."""

LINE_END = 100_000
"""A column behind every line: the protocol takes it as the end of the line."""

MOST_FACTS = 6
"""The last facts are the most useful ones: single numbers that show what the finding says."""

Units = Callable[[str], int]
"""Returns the length of a text in the units in which the editor counts columns."""

_NOTHING_WRONG = ("not_started", "waits")


def diagnostic_of(result: ExerciseResult, file: Path, text: str, units: Units) -> lsp.Diagnostic | None:
    """Return the first failure of an exercise whose file has this text; None if it passes, or has no line to show.

    In a notebook each cell is a document of its own, so a failure there has no line in this file.
    """
    check = result.first_failure
    if result.status == "pass" or check is None or check.status == "missing":
        return None
    place = check.finding.place if check.finding else None
    if place is not None and (place.cell is not None or place.file != file.name):
        return None
    todos = todo_view(result)
    lines = text.splitlines()
    view = failure_view(check, prints=result.prints, todos=todos)
    if place is not None:
        range_ = _range(place, lines, units)
    elif todos is not None and check.status == "not_started":
        range_ = _line(todos.next.place.line, lines, units)
    else:
        range_ = _line(_definition(result, check, text), lines, units)
    return lsp.Diagnostic(
        range=range_,
        message=_message(view, check.finding),
        severity=_severity(result, check),
        code=check.finding.id if check.finding else check.id,
        source=SOURCE,
        related_information=_related(view, check, file.as_uri(), range_, lines, units),
    )


def whole_line(line: int) -> lsp.Range:
    """Return the range of a line, counted from 1."""
    return lsp.Range(lsp.Position(max(line - 1, 0), 0), lsp.Position(max(line - 1, 0), LINE_END))


def _severity(result: ExerciseResult, check: CheckResult) -> lsp.DiagnosticSeverity:
    if result.in_progress or check.status in _NOTHING_WRONG:
        return lsp.DiagnosticSeverity.Information
    return lsp.DiagnosticSeverity.Warning if check.status == "grader_error" else lsp.DiagnosticSeverity.Error


def _message(view: FailureView, finding: Finding | None) -> str:
    """Return the sentence of a failure, why it matters, what is known of the line, the check, and the first hint."""
    lines = [view.message, *view.explanation]
    if view.location is not None and finding is not None and finding.kind != "place":  # then the message says it
        here = ": ".join(filter(None, (view.location.circumstance, view.location.label)))
        lines += [f"Here: {here}."] if here and (view.location.label or finding.certainty is Certainty.LIKELY) else []
    claim = [f"Check: {view.claim}."] if view.claim else []
    return "\n".join([*lines, *claim, *(f"{label}: {hint}" for label, hint in view.hints)])


def _range(place: Place, lines: Sequence[str], units: Units) -> lsp.Range:
    """Return the marked part of a line; the line without its margin if no part is marked."""
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else None
    if text is None or place.column is None or place.column >= len(text):
        return _line(place.line, lines, units)
    start = max(place.column, 0)
    end = len(text.rstrip()) if place.end is None or place.end <= start else min(place.end, len(text))
    return lsp.Range(lsp.Position(place.line - 1, units(text[:start])), lsp.Position(place.line - 1, units(text[:end])))


def _line(line: int, lines: Sequence[str], units: Units) -> lsp.Range:
    if not 0 < line <= len(lines):
        return whole_line(line)
    text = lines[line - 1]
    margin = len(text) - len(text.lstrip())
    return lsp.Range(lsp.Position(line - 1, margin), lsp.Position(line - 1, units(text.rstrip())))


def _definition(result: ExerciseResult, check: CheckResult, text: str) -> int:
    """Return the line of the `def` that a check is about; the first line if there is none."""
    lines = definitions(text)
    return next((lines[todo.name] for todo in result.todos if check.id in todo.checks and todo.name in lines), 1)


def definitions(text: str) -> dict[str, int]:
    """Return the line of each function of a file; none if the text cannot be parsed."""
    try:
        return {function.name: function.line for function in outline_of(text).functions}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _related(
    view: FailureView, check: CheckResult, uri: str, range_: lsp.Range, lines: Sequence[str], units: Units
) -> list[lsp.DiagnosticRelatedInformation]:
    """Return the evidence at the wrong line, and the lines before it that agree."""
    finding = check.finding
    here = lsp.Location(uri, range_)
    facts = evidence_sentences(view, only_wrong=True)[-MOST_FACTS:]
    if finding is not None and finding.certainty is Certainty.SHOWN and finding.place is not None:
        facts.insert(0, decides(finding.place))
    agreeing = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, _line(line, lines, units)), f"This line {AGREES}.")
        for line in (finding.agrees if finding is not None and finding.place is not None else ())
    ]
    return [*(lsp.DiagnosticRelatedInformation(here, fact) for fact in facts), *agreeing]


# The texts behind the commands of an editor: hints, explanations, and the stub of one function.

CHECK, HINT, WHY, LESSON = "course.check", "course.hint", "course.why", "course.lesson"
COMMANDS = (CHECK, HINT, WHY, LESSON)
"""The commands that an editor may ask for; the argument of each is the id of an exercise."""


@dataclass(frozen=True)
class ShownHint:
    """A hint to show. `waits_for_edit` says that the next one needs an edit first."""

    text: str
    waits_for_edit: bool = False


def next_hint(course: Course, exercise: Exercise, *, at_once: bool = False) -> ShownHint:
    """Return the next hint, as `course hint` shows it, and record it. Raises `UsageError` if there is none."""
    progress = read_progress(course)
    if reason := no_hint_reason(course, progress, exercise):
        raise UsageError(" ".join(reason))
    standing = progress.of(exercise)
    if (start := start_of_file(course, exercise, standing)) is not None:
        return ShownHint(f"{start.label} for {start.todo.name}: {start.text}")
    source = own_source(course, exercise)
    digest = digest_of(source) if source is not None else None
    taken = take_hint(course, exercise, standing, digest, at_once=at_once)
    level = len(taken.hints)
    waits = f" Hint {level + 1} comes after you edit {exercise.file}." if taken.waits_for_edit else ""
    return ShownHint(f"Hint {level} of {taken.total}: {taken.hints[-1]}{waits}", taken.waits_for_edit)


def hint_title(course: Course, exercise: Exercise) -> str:
    """Return what the next hint is called: the first, the next one of how many, or the last again."""
    standing = read_progress(course).of(exercise)
    shown, total = standing.hints_shown, len(standing.hints)
    if may_start(standing) or not shown or not total:
        return "Show a hint"
    return f"Show hint {shown + 1} of {total}" if shown < total else f"Show hint {total} of {total} again"


def explanation(course: Course, misconception: str) -> str:
    """Return why a mistake is one, and why it is tempting. Raises `UsageError` if it is unknown."""
    page, _ = find_page(course, read_progress(course), misconception)
    parts = (page.name, page.explanation, page.tempting and f"Why it is tempting: {page.tempting}", page.experiment)
    return "\n\n".join(dict.fromkeys(part for part in parts if part))


def stub_of_function(course: Course, exercise: Exercise, text: str, line: int) -> tuple[str, int, int, str] | None:
    """Return the function around a line: its name, its first and last line, and its text in the stub.

    None if there is none, if the stub has none of that name, or if it is the stub's already.
    """
    try:
        stub = stub_text(course, exercise)
        own = _spans(text)
        handed_out = _spans(stub) if stub is not None else {}
    except (StubError, OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    around = [(name, span) for name, span in own.items() if span[0] <= line <= span[1] and name in handed_out]
    if not around or stub is None:
        return None
    name, (first, last) = max(around, key=lambda item: item[1][0])
    begin, end = handed_out[name]
    new = stub.splitlines()[begin - 1 : end]
    return None if text.splitlines()[first - 1 : last] == new else (name, first, last, "\n".join(new))


def _spans(text: str) -> dict[str, tuple[int, int]]:
    """Return the first and last line of each function and method, with its decorators."""
    found = function_definitions(ast.parse(text))
    return {name: (first_line(node), node.end_lineno or node.lineno) for name, node in found}


# What stands beside the code: the state of each TODO as a code lens, and shapes as inlay hints.

_LENS_MARKS = {"passed": "✓", "failed": "✗", "waiting": "○"}
_CLEAR = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_SEVERAL = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)


def lenses(exercise: Exercise, result: ExerciseResult, text: str) -> list[CodeLens]:
    """Return the state of an exercise at the top of its file, and that of each TODO at its function."""
    word = state_of(result).word
    whole = Command(f"{exercise.number} {exercise.title}: {word}, {count_of(result)}", CHECK, arguments=[exercise.id])
    found = [CodeLens(whole_line(1), whole)]
    lines = definitions(text)
    for todo, item in zip(result.todos, todo_items(result), strict=True):
        line = lines.get(todo.name, todo.place.line if todo.place.cell is None else 0)
        if line:
            found.append(CodeLens(whole_line(line), _lens_command(exercise, todo, item)))
    return found


def _lens_command(exercise: Exercise, todo: Todo, item: TodoItem) -> Command:
    """Return the label of a TODO; a click on one that fails, or is the next to write, shows a hint."""
    title = " ".join(filter(None, (_LENS_MARKS[item.mark], todo.name, item.fact)))
    if item.is_left:
        title = "… in progress" if todo.state == "started" else "○ to write"
        title += ": show how to begin" if item.label else ""
    has_hint = bool(item.label) or item.mark == "failed"
    return Command(title, HINT if has_hint else "", arguments=[exercise.id])


def shape_hints(shapes: Shapes, checked: str, text: str, units: Units) -> list[InlayHint]:
    """Return the shape of each assigned or returned tensor, at the end of its statement.

    `checked` is the text that ran. A statement that is not the same in `text` has no hint.
    """
    before, now = checked.splitlines(), text.splitlines()
    return [
        InlayHint(
            position=Position(end - 1, units(now[end - 1].rstrip())),
            label=f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})",
            padding_left=True,
            tooltip=f"The shape of the last tensor that this line made, in the first trial of the check {check}.",
        )
        for first, end, check, shape in _statement_shapes(shapes, checked)
        if before[first - 1 : end] == now[first - 1 : end]
    ]


def _statement_shapes(shapes: Shapes, text: str) -> Iterator[tuple[int, int, str, tuple[int, ...]]]:
    """Yield the first and last line of each statement that makes one tensor, and a check with its shape."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in _statements(tree):
        end = node.end_lineno or node.lineno
        made = [shapes[line] for line in range(node.lineno, end + 1) if line in shapes]
        if made and made[-1][1]:  # a number has no shape worth a mark
            yield node.lineno, end, *made[-1]


def _statements(tree: ast.Module) -> Iterable[ast.stmt]:
    """Return the statements whose value is the last tensor they make: no list or tuple, and no comparison."""
    for node in ast.walk(tree):
        if not isinstance(node, _CLEAR) or isinstance(node.value, _SEVERAL):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else []
        if not any(isinstance(target, _SEVERAL) for target in targets):
            yield node


# The screen of a session in an editor: it keeps the last result of each exercise, and announces what changed.


@dataclass(frozen=True)
class ExerciseState:
    """The last result of an exercise, the text that was checked, and the shapes that its lines made.

    `problem` says why the work cannot be read; then there is no result. `name` is the file or notebook that counts.
    """

    name: str
    text: str
    result: ExerciseResult | None = None
    shapes: Shapes = field(default_factory=dict)
    problem: str = ""


class Listener(Protocol):
    """Takes the news of a session. All methods are called in the thread of the session."""

    def log(self, sentence: str) -> None:
        """Add a line to the editor's log."""

    def busy(self, activity: str) -> None:
        """Show what a check does; "" if none runs."""

    def failed(self, problem: str) -> None:
        """Show why no exercise can be checked any more."""

    def changed(self, exercise: Exercise, news: str) -> None:
        """Show what is now known of an exercise; `news` has what became right."""


class EditorScreen(Screen):
    """Passes the news of a session to an editor. `known` has what is known of each exercise, by its id."""

    shows_shapes = True

    def __init__(self, course: Course, listener: Listener, read: Callable[[Exercise], str]) -> None:
        super().__init__(Console(file=io.StringIO()), course, plain=True, keys=False)
        self.listener = listener
        self.read = read
        self.known: dict[str, ExerciseState] = {}

    def say(self, sentence: str, style: str = "") -> None:  # noqa: ARG002 - a log has no colours
        """Add a line to the editor's log."""
        self.listener.log(sentence)

    def saved(self, files: object, does: str) -> None:  # noqa: ARG002 - the editor knows what it saved
        """Show that a check begins."""
        self.listener.busy("checking")

    def begun(self, activity: str) -> None:
        """Show that a check begins."""
        self.listener.busy(activity)

    def running(self, activity: str, elapsed: float) -> None:
        """Show what takes so long."""
        self.listener.busy(f"{activity}, {duration(elapsed)} so far")

    def waiting(self, file: str, problem: str) -> None:
        """Show why there is nothing to check."""
        super().waiting(file, problem)
        exercise = next(one for one in self.course.exercises if one.file.removesuffix(".py") in file)
        self.known[exercise.id] = ExerciseState(file, "", problem=f"{file} {problem}.")
        self.listener.busy("")
        self.listener.changed(exercise, "")

    def result(
        self,
        result: ExerciseResult,
        file: str,
        progress: Progress,
        took: float,  # noqa: ARG002 - an editor needs no count of seconds
        *,
        earlier: str | None = None,
    ) -> None:
        """Show a result, at the lines of the text that it is about."""
        exercise = self.course.exercise(result.id)
        self.known[result.id] = ExerciseState(file, self.read(exercise) if earlier is None else earlier, result)
        self.listener.busy("")
        self.listener.changed(exercise, encouragement(progress.of(exercise)))
        if earlier is not None:
            self.listener.log(f"{exercise.id}: this verdict is {BEFORE_EDIT}")

    def proved(self, result: ExerciseResult, file: str, progress: Progress) -> None:  # noqa: ARG002
        """Show where the mistake is, once that is proved."""
        self.known[result.id] = replace(self.known[result.id], result=result)
        self.listener.changed(self.course.exercise(result.id), "")

    def shapes(self, exercise: Exercise, shapes: Shapes) -> None:
        """Show the shapes that a check found."""
        before = self.known.get(exercise.id)
        if before is not None and before.result is not None:
            self.known[exercise.id] = replace(before, shapes=shapes)
            self.listener.changed(exercise, "")


# The session of an editor, in a thread of its own: it checks what is opened and saved.


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


TRUST, NOT_NOW, NOW = "Trust this course", "Not now", "Show it now"
PROGRESS = "course-check"


class EditorServer(LanguageServer):
    """Serves one editor, and one course: that of the first exercise file it opens."""

    def __init__(self) -> None:
        super().__init__("course", __version__)
        self.course: Course | None = None
        self.checker: Checker | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._published: dict[str, list[lsp.Diagnostic]] = {}
        self._has_progress = False
        self._is_busy = False
        self._is_asking = False
        self._wanted: Exercise | None = None

    def log(self, sentence: str) -> None:
        """Add a line to the editor's log."""
        self._post(lambda: self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Info, sentence)))

    def failed(self, problem: str) -> None:
        """Show why no exercise can be checked any more."""
        self._post(lambda: self.show(problem, lsp.MessageType.Error))

    def busy(self, activity: str) -> None:
        """Show what a check does; "" if none runs."""
        self._post(lambda: self._show_progress(activity))

    def changed(self, exercise: Exercise, news: str) -> None:
        """Show what is now known of an exercise."""
        self._post(lambda: self._publish(exercise, news))

    def show(self, sentence: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a message in the editor."""
        self.window_show_message(lsp.ShowMessageParams(kind, sentence))

    def exercise_at(self, uri: str) -> Exercise | None:
        """Return the exercise whose file a document is; None for any other document, or of another course."""
        path = to_fs_path(uri)
        return exercise_of(self.course, Path(path)) if path and self.course is not None else None

    def state_of(self, exercise: Exercise | None) -> ExerciseState | None:
        """Return what is known of an exercise."""
        return self.checker.screen.known.get(exercise.id) if exercise is not None and self.checker else None

    def units(self, text: str) -> int:
        """Return the length of a text in the units in which this editor counts columns."""
        return int(self.workspace.position_codec.client_num_units(text))

    async def opened(self, uri: str) -> None:
        """Check an exercise that was opened. The first one starts the worker, after the user trusts the course."""
        if self.course is None:
            self.course = self._course_around(uri)
        exercise = self.exercise_at(uri)
        if exercise is None or self.course is None:
            return
        self._wanted = exercise
        if self.checker is not None:
            self.checker.check(exercise, at_once=False)
        elif await self._is_trusted(self.course) and self.checker is None:
            self.loop = asyncio.get_running_loop()
            self.checker = Checker(self.course, self, self._wanted)

    def saved(self, uri: str) -> None:
        """Check an exercise that was saved."""
        exercise = self.exercise_at(uri)
        if exercise is not None and self.checker is not None:
            self.checker.saved(exercise)
            if self.checker.problem:
                self.show(self.checker.problem, lsp.MessageType.Error)

    def close(self) -> None:
        """End every worker."""
        self.loop = None
        if self.checker is not None:
            self.checker.close()

    def _course_around(self, uri: str) -> Course | None:
        """Return the course of an exercise; None for a file that is none, or if its course.toml has mistakes."""
        path = Path(to_fs_path(uri) or "")
        try:
            course = read_course(find_course(path.parent))
        except CourseError as error:
            if (path.parent.parent / "course.toml").is_file():  # else it is a file of something else
                self.show(str(error), lsp.MessageType.Error)
            return None
        return course if exercise_of(course, path) is not None else None

    async def _is_trusted(self, course: Course) -> bool:
        """Return whether the course's code may run; ask once per open file if the user has not decided."""
        if is_trusted(course.root):
            return True
        if self._is_asking:
            return False
        self._is_asking = True
        question = (
            f"You have not used the course in {course.root} before. Its checks, exercises and solutions are programs, "
            "and they run with your rights. Do you trust this folder?"
        )
        actions = [lsp.MessageActionItem(TRUST), lsp.MessageActionItem(NOT_NOW)]
        asked = lsp.ShowMessageRequestParams(lsp.MessageType.Warning, question, actions)
        answer = await self.window_show_message_request_async(asked)
        self._is_asking = False
        if answer is None or answer.title != TRUST:
            return False
        trust_folder(course.root)
        return True

    def _post(self, action: Callable[[], None]) -> None:
        """Run an action in the thread that writes to the editor."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(action)

    def _show_progress(self, activity: str) -> None:
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        progress = self.work_done_progress
        if activity and not self._is_busy:
            if not self._has_progress:
                progress.create(PROGRESS)
                self._has_progress = True
            progress.begin(PROGRESS, lsp.WorkDoneProgressBegin(title="course", message=activity))
        elif activity:
            progress.report(PROGRESS, lsp.WorkDoneProgressReport(message=activity))
        elif self._is_busy:
            progress.end(PROGRESS, lsp.WorkDoneProgressEnd())
        self._is_busy = bool(activity)

    def _publish(self, exercise: Exercise, news: str) -> None:
        """Publish the first failure of an exercise, and have the editor ask for lenses and shapes again."""
        assert self.course is not None
        state = self.state_of(exercise)
        file = self.course.exercises_dir / exercise.file
        if state is None:
            return
        diagnostics: list[lsp.Diagnostic] = []
        if state.problem and file.exists():
            diagnostics = [lsp.Diagnostic(whole_line(1), state.problem, lsp.DiagnosticSeverity.Error, source=SOURCE)]
        elif state.result is not None and (found := diagnostic_of(state.result, file, state.text, self.units)):
            diagnostics = [found]
        if self._published.get(exercise.id) != diagnostics:
            self._published[exercise.id] = diagnostics
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(file.as_uri(), diagnostics))
        if state.name != exercise.file:
            self.log(f"{state.name} counts for {exercise.id}; its cells are checked by the notebook itself")
        if news:
            self.log(f"{exercise.id}: {news}")
        self._refresh()

    def _refresh(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)


def serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve an editor over these streams until it ends the server or closes them."""
    server = make_server()
    try:
        server.start_io(stdin, stdout)
    finally:
        server.close()


def make_server() -> EditorServer:
    """Return a server with all its features."""
    server = EditorServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        await server.opened(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        exercise = server.exercise_at(params.text_document.uri)
        state = server.state_of(exercise)
        if exercise is None or state is None or state.result is None:
            return []
        return lenses(exercise, state.result, _text(server, params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        exercise = server.exercise_at(params.text_document.uri)
        state = server.state_of(exercise)
        if exercise is None or state is None:
            return []
        hints = shape_hints(state.shapes, state.text, _text(server, params.text_document.uri), server.units)
        lines = range(params.range.start.line, params.range.end.line + 1)
        return [hint for hint in hints if hint.position.line in lines]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        exercise = server.exercise_at(params.text_document.uri)
        return _actions(server, exercise, params) if exercise is not None else []

    for name in COMMANDS:
        _add_command(server, name)
    return server


def _text(server: EditorServer, uri: str) -> str:
    return str(server.workspace.get_text_document(uri).source)


def _actions(server: EditorServer, exercise: Exercise, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Return the actions at a line, of the kinds that the editor asked for."""
    assert server.course is not None
    uri, state = params.text_document.uri, server.state_of(exercise)
    failure = state.result.first_failure if state is not None and state.result is not None else None
    here = [one for one in params.context.diagnostics if one.source == SOURCE]
    titles = []
    if failure is not None:
        titles.append((HINT, hint_title(server.course, exercise)))
    if failure is not None and failure.finding is not None and failure.mistake is not None:
        titles.append((WHY, f"Why: {failure.finding.name or failure.mistake}"))
    titles += [(LESSON, "Open the lesson"), (CHECK, "Check this exercise again")]
    quick = lsp.CodeActionKind.QuickFix.value
    actions = [
        lsp.CodeAction(title, quick, here or None, command=lsp.Command(title, name, arguments=[exercise.id]))
        for name, title in titles
    ]
    stub = stub_of_function(server.course, exercise, _text(server, uri), params.range.start.line + 1)
    if stub is not None:
        name, first, last, new = stub
        range_ = lsp.Range(lsp.Position(first - 1, 0), lsp.Position(last - 1, LINE_END))
        edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(range_, new)]})
        actions.append(lsp.CodeAction(f"Reset {name} to the stub", lsp.CodeActionKind.Refactor.value, edit=edit))
    only = params.context.only
    return [one for one in actions if only is None or any(str(one.kind).startswith(kind) for kind in only)]


def _add_command(server: EditorServer, name: str) -> None:
    @server.command(name)
    async def run(exercise_id: str) -> None:
        if server.course is None or server.checker is None:
            return
        try:
            exercise = server.course.exercise(exercise_id)
            await _run_command(server, server.course, name, exercise)
        except (UsageError, SubmissionError, LookupError, OSError) as error:
            server.show(str(error), lsp.MessageType.Warning)


async def _run_command(server: EditorServer, course: Course, name: str, exercise: Exercise) -> None:
    if name == CHECK and server.checker is not None:
        server.checker.check(exercise, at_once=True)
    elif name == HINT:
        await _show_hint(server, course, exercise)
    elif name == WHY:
        state = server.state_of(exercise)
        failure = state.result.first_failure if state is not None and state.result is not None else None
        if failure is None or failure.mistake is None:
            raise UsageError(f"the last failure of {exercise.id} has no page in the catalogue of mistakes")
        server.show(explanation(course, failure.mistake))
    elif name == LESSON:
        uri = (course.exercises_dir / exercise.file).as_uri()
        top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        await server.window_show_document_async(lsp.ShowDocumentParams(uri, take_focus=True, selection=top))


async def _show_hint(server: EditorServer, course: Course, exercise: Exercise) -> None:
    """Show the next hint. One that waits for an edit comes at once if the learner asks for it again."""
    hint = next_hint(course, exercise)
    if not hint.waits_for_edit:
        server.show(hint.text)
        return
    asked = lsp.ShowMessageRequestParams(lsp.MessageType.Info, hint.text, [lsp.MessageActionItem(NOW)])
    answer = await server.window_show_message_request_async(asked)
    if answer is not None and answer.title == NOW:
        server.show(next_hint(course, exercise, at_once=True).text)
