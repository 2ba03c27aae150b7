"""The language server: opens and saves come in, and diagnostics, lenses, hints and actions go out."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from autograder import __version__
from autograder.course import Course, CourseError, Exercise, find_course, read_course, trust
from autograder.course.names import UsageError
from autograder.learner.editor import commands
from autograder.learner.editor.annotations import lenses, shape_hints
from autograder.learner.editor.checker import Checker, exercise_of
from autograder.learner.editor.findings import LINE_END, SOURCE, diagnostic_of, whole_line
from autograder.learner.editor.screen import ExerciseState
from autograder.submission import SubmissionError

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
        if trust.is_trusted(course.root):
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
        trust.trust(course.root)
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

    for name in commands.COMMANDS:
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
        titles.append((commands.HINT, commands.hint_title(server.course, exercise)))
    if failure is not None and failure.finding is not None and failure.mistake is not None:
        titles.append((commands.WHY, f"Why: {failure.finding.name or failure.mistake}"))
    titles += [(commands.LESSON, "Open the lesson"), (commands.CHECK, "Check this exercise again")]
    quick = lsp.CodeActionKind.QuickFix.value
    actions = [
        lsp.CodeAction(title, quick, here or None, command=lsp.Command(title, name, arguments=[exercise.id]))
        for name, title in titles
    ]
    stub = commands.stub_of_function(server.course, exercise, _text(server, uri), params.range.start.line + 1)
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
    if name == commands.CHECK and server.checker is not None:
        server.checker.check(exercise, at_once=True)
    elif name == commands.HINT:
        await _show_hint(server, course, exercise)
    elif name == commands.WHY:
        state = server.state_of(exercise)
        failure = state.result.first_failure if state is not None and state.result is not None else None
        if failure is None or failure.mistake is None:
            raise UsageError(f"the last failure of {exercise.id} is no misconception of the catalogue")
        server.show(commands.explanation(course, failure.mistake))
    elif name == commands.LESSON:
        uri = (course.exercises_dir / exercise.file).as_uri()
        top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        await server.window_show_document_async(lsp.ShowDocumentParams(uri, take_focus=True, selection=top))


async def _show_hint(server: EditorServer, course: Course, exercise: Exercise) -> None:
    """Show the next hint. One that waits for an edit comes at once if the learner asks for it again."""
    hint = commands.next_hint(course, exercise)
    if not hint.waits_for_edit:
        server.show(hint.text)
        return
    asked = lsp.ShowMessageRequestParams(lsp.MessageType.Info, hint.text, [lsp.MessageActionItem(NOW)])
    answer = await server.window_show_message_request_async(asked)
    if answer is not None and answer.title == NOW:
        server.show(commands.next_hint(course, exercise, at_once=True).text)
