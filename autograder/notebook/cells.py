"""What a notebook imports, and the notebook as last run: the file on disk, with each cell replaced by its latest run.

The front end may report the id of a cell. Without it, a cell is matched by the names it binds: a run that binds all
names of a cell in the file is that cell, edited. A cell that is not in the file counts if it defines something.
"""

import ast
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import IO, Any

from autograder.course import (
    Course,
    CourseError,
    Exercise,
    StubError,
    SuiteError,
    UsageError,
    find_course,
    parts_of_others,
    read_course,
    resolve_exercise,
)
from autograder.formats import Unreadable, read_json
from autograder.progress import (
    ExerciseRow,
    Progress,
    Standing,
    count_passed,
    digest_of,
    encouragement,
    find_page,
    may_start,
    next_todo,
    no_hint_reason,
    normalize_device,
    part_sentences,
    pause_advice,
    read_progress,
    read_todos,
    rows_of,
    take_hint,
    take_start,
    way_on,
)
from autograder.report import (
    COURSE_PROBLEM,
    Command,
    WhyPage,
    ended,
    exercise_card,
    exercise_sentences,
    fact,
    hint_card,
    lines_of,
    next_sentences,
    note_card,
    number,
    points,
    points_of,
    sentences_of_page,
    state_of,
    table_card,
    todo_view,
    why_card,
)
from autograder.results import ExerciseResult, Report, Todo, from_json, opened
from autograder.submission import (
    Caps,
    FileError,
    Notebook,
    Submission,
    SubmissionError,
    notebook_file,
    notebook_of,
    notes_of,
    python_of,
    read_notebook,
    read_own,
    read_plain,
    stubs_of,
)
from autograder.worker import PACKAGE, PackageLoader, build, package_spec, short_name

# Record the cells that this kernel runs: IPython's history so far, then each run with the id of its cell.


@dataclass(frozen=True)
class Run:
    """The source of a cell as run, and the id of the cell if the front end reports it."""

    source: str
    cell: str | None = None


_runs: list[Run] = []
_recording: list[Any] = []
_start_folder: list[Path] = []


def begin_to_record() -> None:
    """Record every cell from now on, and those of the history so far. Without IPython, do nothing."""
    shell = _shell()
    if shell is None or shell in _recording:
        return
    _recording.append(shell)
    with contextlib.suppress(OSError):
        _start_folder.append(Path.cwd())
    _runs.extend(Run(source) for source in shell.history_manager.input_hist_raw if source.strip())
    shell.events.register("pre_run_cell", _note)


def runs() -> tuple[Run, ...]:
    """Return the runs, in order."""
    return tuple(_runs)


def folder() -> Path:
    """Return the folder of the notebook, where the kernel started. Raises OSError if it no longer exists."""
    return _start_folder[-1] if _start_folder else Path.cwd()


def graded_by_nbgrader() -> bool:
    """Return whether nbgrader runs this kernel, to validate or to grade: then nothing is anybody's progress."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def notebook_names() -> Iterator[Path]:
    """Yield the path of the running notebook: VS Code sets a variable, JupyterLab an environment variable."""
    shell = _shell()
    named = shell.user_ns.get("__vsc_ipynb_file__") if shell is not None else None
    for name in (named, os.environ.get("JPY_SESSION_NAME")):
        if isinstance(name, str) and name:
            yield Path(name)


def _note(info: Any) -> None:
    source = getattr(info, "raw_cell", None)
    cell = getattr(info, "cell_id", None)
    if isinstance(source, str) and source.strip():
        _runs.append(Run(source, cell if isinstance(cell, str) else None))


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class LiveNotebook:
    """The code of a notebook as last run, and the cells, counted from 1, that differ from the file on disk.

    `has_run` says whether a cell that defines something was run.
    """

    book: Notebook
    newer: tuple[int, ...]
    has_run: bool


def read_live(data: bytes, runs: Sequence[Run], limit: int) -> LiveNotebook:
    """Return a notebook as last run.

    `limit` is that of `read_notebook`; raises `FileError` as it does.
    """
    read_notebook(data, limit)  # for its error, if the file is no notebook
    book = json.loads(data.decode("utf-8-sig"))
    cells = _Cells(book["cells"])
    for run in runs:
        cells.take(run)
    book["cells"], newer = cells.merged()
    return LiveNotebook(read_notebook(json.dumps(book).encode("utf-8", "replace"), limit), newer, cells.ran)


class _Cells:
    """The cells of a file, and the runs that replace them."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self.cells = cells
        self.sources = [_text(cell) for cell in cells]
        self.bound = [_bound(source) if source is not None else frozenset() for source in self.sources]
        self.ids = {cell["id"]: place for place, cell in enumerate(cells) if isinstance(cell.get("id"), str)}
        self.defining = [place for place, source in enumerate(self.sources) if source is not None and _defines(source)]
        self.now: dict[int, str] = {}
        self.added: dict[frozenset[str], str] = {}
        self.ran = False

    def take(self, run: Run) -> None:
        """Replace the cell that a run is of."""
        if _tree(run.source) is None:
            return  # Python ran nothing of it
        places = self._places(run)
        for at, place in enumerate(places):
            self.now[place] = run.source if not at else ""
        self.ran = self.ran or bool(set(places) & set(self.defining))
        if not places and _defines(run.source):
            self.added[_bound(run.source)] = run.source

    def merged(self) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
        """Return the cells as last run, and which of them, counted from 1, differ from the file's."""
        first = min(self.defining, default=len(self.cells))
        merged: list[dict[str, Any]] = []
        newer: list[int] = []
        for place, cell in enumerate([*self.cells, None]):
            if place == first:
                merged += [_code(source) for source in self.added.values()]
                newer += range(len(merged) - len(self.added) + 1, len(merged) + 1)
            if cell is None:
                continue
            source = self.now.get(place)
            if source is not None and source.strip() != (self.sources[place] or "").strip():
                newer.append(len(merged) + 1)
                cell = {**cell, "source": source}
            merged.append(cell)
        return merged, tuple(newer)

    def _places(self, run: Run) -> list[int]:
        """Return the cells of the file that a run replaces."""
        if run.cell in self.ids:
            return [self.ids[run.cell]]
        same = [
            place
            for place, source in enumerate(self.sources)
            if source is not None and source.strip() == run.source.strip()
        ]
        bound = _bound(run.source)
        return same[:1] or [place for place, names in enumerate(self.bound) if names and names <= bound]


def _text(cell: Mapping[str, Any]) -> str | None:
    """Return the source of a code cell; None for another cell."""
    source = cell.get("source")
    if cell.get("cell_type") != "code":
        return None
    return source if isinstance(source, str) else "".join(source or ())


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse("\n".join(python_of(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defines(source: str) -> bool:
    tree = _tree(source)
    return tree is not None and any(isinstance(statement, DEFINITIONS) for statement in tree.body)


def _bound(source: str) -> frozenset[str]:
    tree = _tree(source)
    return frozenset(_names(tree)) if tree is not None else frozenset()


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the statements of a cell bind."""
    for statement in tree.body:
        if isinstance(statement, DEFINITIONS):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (name.asname or name.name.split(".")[0] for name in statement.names)
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


# Choose the code that a check in a notebook is about: the cells as last run, or the file in exercises/.


@dataclass(frozen=True)
class Work:
    """The source that counts, the running notebook if it is from there, and notes about the choice.

    `warnings` are notes without which the verdict misleads.
    """

    source: bytes | None
    book: Notebook | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def noting(self, sentence: str) -> "Work":
        """Return the same work with one more note."""
        return replace(self, notes=(*self.notes, sentence))


def work_folder(course: Course) -> Path | None:
    """Return the folder of the notebook if the work is there, not in exercises/, as with nbgrader."""
    here, own = folder().resolve(), course.exercises_dir
    if here.is_relative_to(own) or own.is_relative_to(here):
        return None
    return here if any((here / notebook_of(file)).is_file() for file in course.files) else None


def work_on(course: Course, exercise: Exercise) -> Work:
    """Return the work on an exercise. Raises `SubmissionError` if its folder cannot be read."""
    where = work_folder(course)
    own = read_own(course, [exercise], folder=where)
    given = stubs_of(course, [exercise])
    limit = course.limits.source_kib * 1024
    live, problem = _live(course, exercise, where, limit)
    on_disk = own.sources.get(exercise.file)
    is_begun = live is not None and live.has_run and not given.is_notebook(notebook_of(exercise.file), live.book, limit)
    has_file = on_disk is not None and not given.is_stub(exercise.file, on_disk)
    if live is None or (has_file and not is_begun):
        return Work(on_disk, None, tuple(filter(None, (problem, *_relevant(own)))))
    notes = list(live.book.notes)
    place = where or course.exercises_dir
    counted = {cell for _, cell in live.book.cells}
    newer = [cell for cell in live.newer if cell in counted]
    warnings = (_unsaved(exercise, newer),) if newer else ()
    if has_file and exercise.file not in own.cells:
        notes.append(
            f"This notebook was checked. {place.name}/{exercise.file} has work too. `course check` takes that file, "
            "and so does the grader if you hand in both. Keep only one of them"
        )
    return Work(live.book.source, live.book, tuple(notes), warnings)


def _live(course: Course, exercise: Exercise, where: Path | None, limit: int) -> tuple[LiveNotebook | None, str]:
    """Return the running notebook if it is that of the exercise, or its problem."""
    own = where / notebook_of(exercise.file) if where else notebook_file(course, exercise)
    for file in (*notebook_names(), own):
        if file.name == notebook_of(exercise.file) and file.is_file():
            try:
                return read_live(read_plain(file, Caps().notebook_kib * 1024), runs(), limit), ""
            except FileError as error:
                return None, f"{_named(course, file)} {error}"
    return None, ""


def _named(course: Course, file: Path) -> str:
    return file.relative_to(course.root).as_posix() if file.is_relative_to(course.root) else file.name


def _unsaved(exercise: Exercise, newer: Sequence[int]) -> str:
    """Return a warning that what was checked is not what is on disk, with its cells."""
    cells = ", ".join(map(str, newer[:5]))
    which = f"Cell {cells} is" if len(newer) == 1 else f"Cells {cells} are"
    return (
        f"{which} not saved in {notebook_of(exercise.file)} as last run. The check used the last run. Save the "
        "notebook before you hand it in, and run each cell that you change"
    )


def _relevant(own: Submission) -> tuple[str, ...]:
    """Return the notes of the reader, without those that nobody needs at every check."""
    ordinary = notes_of("ordinary", own.notes)
    return tuple(note for note in own.notes if note not in ordinary)


# Import earlier exercises in a notebook: `from exNN_name import ...` finds the student's file or notebook.
#
# So does `from exercises.exNN_name import ...`, with the same module.

_ID = re.compile(r"ex\d\d_\w+")


def find_earlier_exercises() -> None:
    """Make the exercises of the course in the working folder importable."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def forget_earlier_exercises() -> None:
    """Import exercises anew the next time: their files may have changed."""
    for name, module in list(sys.modules.items()):
        if isinstance(getattr(module, "__loader__", None), _Loader | PackageLoader):
            del sys.modules[name]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the exercises of the course, before a module of the same name beside the notebook."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == PACKAGE:
            return package_spec(fullname) if _in_course() else None
        name = short_name(fullname)
        loader = _loader_of(name) if _ID.fullmatch(name) else None
        if loader is None:
            return None
        if name != fullname:
            return package_spec(fullname)
        return importlib.util.spec_from_loader(name, loader, origin=loader.path)


def _in_course() -> bool:
    try:
        return bool(find_course(folder()))
    except (CourseError, OSError):
        return False


def _loader_of(id_: str) -> "_Loader | None":
    """Return the loader of an exercise's file or notebook; None if there is no such exercise, or no source."""
    try:
        course = read_course(find_course(folder()))
        part = parts_of_others(course).get(f"{id_}.py")
        if part is not None:
            return _Loader(b"", str(course.reference_parts_dir / f"{id_}.json"), part)
        exercise = next((exercise for exercise in course.exercises if exercise.id == id_), None)
        if exercise is None:
            return None
        where = work_folder(course)
        read = read_own(course, [exercise], folder=where)
    except (CourseError, SubmissionError, StubError, SuiteError, OSError):
        return None
    source = read.sources.get(exercise.file)
    if source is None:
        return None
    name = f"{exercise.id}.ipynb" if exercise.file in read.cells else exercise.file
    return _Loader(source, str((where or course.exercises_dir) / name))


class _Loader(importlib.abc.InspectLoader):
    """Loads a source that is in memory, or the reference part of an exercise that the class does not take."""

    def __init__(self, source: bytes, path: str, part: bytes | None = None) -> None:
        self.source = source
        self.path = path
        self.part = part

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if self.part is not None:
            vars(module).update(build(self.part, module.__name__))

    def get_source(self, fullname: str) -> str:  # noqa: ARG002
        return importlib.util.decode_source(self.source)

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self.source, self.path)

    def is_package(self, fullname: str) -> bool:  # noqa: ARG002
        return False


# `check`, `hint`, `why` and `status`: each shows a card, and raises no error that a student can cause.

# The output of a notebook's cell: an HTML card, and the same as plain sentences for programs without HTML.


@dataclass(frozen=True)
class Card:
    """An HTML element, and sentences that say the same."""

    html: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, html: str, sentences: Iterable[str]) -> "Card":
        return cls(html, tuple(lines_of(sentences)))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, Any]:  # noqa: ARG002
        return {"text/html": self.html, "text/plain": str(self)}


class CellOutput:
    """The output of a cell, where a new card replaces the one before."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, card: Card, *, is_progress: bool = False) -> None:
        """Show a card. A card that only reports progress is not printed outside a notebook."""
        display = _display()
        if display is None:
            if not is_progress:
                print(card)
        elif self._handle is None:
            self._handle = display(card, display_id=True)
        else:
            self._handle.update(card)


def _display() -> Any:
    """Return the function that displays output in a notebook; None outside a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display if get_ipython() is not None else None


# Run a check in the process that judges, and wait for its answer.

INSTALLED = Path(__file__).parents[2]


class Problem(Exception):
    """The exercise could not be judged; the message is a sentence."""


def judge(
    course: Course,
    exercise: Exercise,
    book: Notebook | None,
    on_progress: Callable[[str], None],
    *,
    folder: Path | None = None,
    kept: bool = True,
    device: str = "cpu",
) -> tuple[Report, str]:
    """Return the report on an exercise, and a warning if the progress could not be saved, else "".

    `on_progress` gets a sentence on the answer key. `book` is the notebook as last run, if that counts. `folder` has
    the work if exercises/ does not. `kept` says whether to save the result as progress. Raises `Problem`.
    """
    live = {"source": book.source.decode("utf-8", "replace"), "cells": book.cells} if book else None
    where = str(folder) if folder else None
    asked = {"root": str(course.root), "exercise": exercise.id, "live": live, "folder": where, "kept": kept}
    request = json.dumps({**asked, "device": device})
    with tempfile.TemporaryFile() as errors:
        answer = _answer(course, request, errors, on_progress)
        if "report" in answer:
            return from_json(answer["report"]), str(answer["warning"])
        if "problem" in answer:
            raise Problem(str(answer["problem"]))
        errors.seek(0)
        last_line = errors.read()[-4000:].decode("utf-8", "replace").strip().split("\n")[-1]
    cause = f" ({last_line})" if last_line else ""
    raise Problem(f"the grader itself ended without a verdict{cause}; run the cell again")


def _answer(course: Course, request: str, errors: IO[bytes], on_progress: Callable[[str], None]) -> Mapping[str, Any]:
    paths = [str(INSTALLED), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.notebook.judging"],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        encoding="utf-8",
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request)
        process.stdin.close()
        answer: Mapping[str, Any] = {}
        for line in process.stdout:
            answer = _read(line)
            if "progress" in answer:
                done, total = answer["progress"]
                on_progress(f"Comparing with known mistakes: {done} of {total}.")
        return answer
    except BrokenPipeError:
        return {}
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _read(line: str) -> Mapping[str, Any]:
    try:
        return read_json(dict[str, Any], line)
    except Unreadable:
        return {}


EXPECTED = (CourseError, UsageError, SubmissionError, StubError, Problem, OSError)
"""Errors that a student can cause: each becomes a sentence."""


class Points(float):
    """The points of an exercise; `ok` says whether it passes. A cell that ends with them shows only the card.

    Under nbgrader it shows the number too, which nbgrader takes as the score of the cell.
    """

    ok: bool = False
    __repr__ = float.__repr__

    def _ipython_display_(self) -> None:
        if graded_by_nbgrader():
            raise NotImplementedError  # which makes IPython display the number


def check(exercise: str | int | None = None, *, strict: bool = False, device: str = "cpu") -> Points:
    """Check an exercise, show the result, and return its points. With `strict`, raise if it does not pass.

    Your code runs on the `device`: cpu, cuda or mps. What is checked are the cells of the notebook as last run, or the
    file in exercises/ if that has the work.
    """
    output = CellOutput()
    earned, why_not = Points(0.0), "it could not be checked"
    try:
        course, progress, meant = _course_and(exercise)
        report, work = _judged(course, meant, output, normalize_device(device))
        [result] = report.exercises
        progress = _progress(course)
        output.show(_checked_card(course, meant, progress, result, work))
        forget_earlier_exercises()
        earned = Points(min(result.score, result.max_score) / 100)
        earned.ok = result.status == "pass"
        why_not = f"{state_of(result).word}, {points_of(result.score, result.max_score)}"
    except EXPECTED as error:
        output.show(_problem(str(error)))
        why_not = str(error)
    if strict and not earned.ok:
        raise AssertionError(f"check({exercise!r}): {why_not}")
    return earned


def hint(exercise: str | int | None = None, *, now: bool = False) -> None:
    """Show the next hint for the last failure. After the first, the code must have changed, unless `now`."""
    _show(lambda: _hint(exercise, now))


def why(misconception: str | None = None) -> None:
    """Explain a misconception, by default the one behind the last failure."""
    _show(lambda: _why(misconception))


def status() -> None:
    """Show where you are in the course."""
    _show(_status)


def _show(make: Callable[[], Card]) -> None:
    try:
        card = make()
    except UsageError as error:
        sentence = ended(opened(_TERMINAL.sub(r'`check("ex\1")`', str(error))))
        card = Card.of(note_card("Nothing to show", [sentence]), [sentence])
    except EXPECTED as error:
        card = _problem(str(error))
    CellOutput().show(card)


_TERMINAL = re.compile(r"`course check (\d\d)`")
"""What a message asks to run in a terminal, and a notebook has a function for."""


def _course_and(exercise: str | int | None) -> tuple[Course, Progress, Exercise]:
    """Return the course, the progress, and the exercise that is meant."""
    course = read_course(find_course(folder()))
    progress = _progress(course)
    meant = resolve_exercise(course, str(exercise)) if exercise is not None else progress.current(course)
    return course, progress, meant or course.exercises[-1]


def _progress(course: Course) -> Progress:
    """Return the learner's progress; none under nbgrader, because what is stored here is somebody else's."""
    return Progress() if graded_by_nbgrader() else read_progress(course)


def _judged(course: Course, exercise: Exercise, output: CellOutput, device: str) -> tuple[Report, Work]:
    title = f"{exercise.number} {exercise.title}"

    def on_progress(step: str) -> None:
        card = note_card(f"Checking {title}", [step] if step else [])
        output.show(Card.of(card, [f"Checking exercise {title}. {step}"]), is_progress=True)

    on_progress("")
    work = work_on(course, exercise)
    report, warning = judge(
        course,
        exercise,
        work.book,
        on_progress,
        folder=work_folder(course),
        kept=not graded_by_nbgrader(),
        device=device,
    )
    return report, work.noting(warning) if warning else work


def _checked_card(course: Course, exercise: Exercise, progress: Progress, result: ExerciseResult, work: Work) -> Card:
    standing = progress.of(exercise)
    advice = pause_advice(exercise, standing).replace("`course diff", "In a terminal, `course diff")
    passes = result.status == "pass"
    of_cells = work.book.notes if work.book is not None and passes else ()  # what was left out was not needed
    chosen = [note for note in work.notes if note not in of_cells]
    notes = [*filter(None, [encouragement(standing)]), *chosen, *([advice] if advice else [])]
    commands = _next(course, exercise, progress, result)
    hints = max(standing.hints_shown, 1)
    unused = standing.hints[standing.hints_shown :] if passes else ()
    html = exercise_card(
        result,
        hints_shown=hints,
        attempt=standing.attempts,
        unused_hints=unused,
        warnings=work.warnings,
        notes=notes,
        next_commands=commands,
    )
    sentences = exercise_sentences(result, [], hints, standing.attempts, unused)
    return Card.of(html, [*map(ended, [*work.warnings]), *sentences, *map(ended, notes), *next_sentences(commands)])


def _next(course: Course, exercise: Exercise, progress: Progress, result: ExerciseResult) -> list[Command]:
    again = f'check("{exercise.id[:4]}")'
    if result.status == "pass":
        following = progress.following(course, exercise)
        if following is None:
            return [("status()", "every exercise passes")]
        book = notebook_file(course, following)
        return [(book.name if book.is_file() else following.file, way_on(course, progress, exercise, following))]
    if state_of(result) is COURSE_PROBLEM:
        return [(again, "try again, when the author has mended the course")]
    if result.status == "grader_error":
        return [(again, "try again"), ("course doctor", "in a terminal: look for a problem on this machine")]
    if result.in_progress or result.status in ("not_started", "missing"):
        view = todo_view(result)
        about = [(f'hint("{exercise.id[:4]}")', f"how to begin {view.next.name}")] if view else []
        return [(again, "after you write a TODO and run its cell"), *about]
    commands = [(again, "after you change a cell and run it")]
    standing = progress.of(exercise)
    if standing.hints_shown < len(standing.hints):
        commands.append((f'hint("{exercise.id[:4]}")', "the next hint, after a change"))
    finding = result.first_failure.finding if result.first_failure else None
    if finding and finding.known_as:
        commands.append((f'why("{finding.id}")', f"explain the {finding.known_as}"))
    return commands


def _hint(asked: str | int | None, now: bool) -> Card:
    course, progress, exercise = _course_and(asked)
    title = f"{exercise.number} {exercise.title}"
    nothing = no_hint_reason(course, progress, exercise)
    if nothing:
        return Card.of(note_card(title, nothing), nothing)
    standing = progress.of(exercise)
    if (todo := _next_todo(course, exercise, standing)) is not None:
        start = take_start(course, exercise, standing, todo)
        head = f"{title}: how to begin {todo.name}, {todo.place.line_name}"
        notes = [start.warning] if start.warning else []
        sentences = [fact(start.label, start.text)]
        return Card.of(note_card(head, [*sentences, *notes]), [head, *sentences, *notes])
    if not standing.check:
        not_yet = [f'No hint yet: run check("{exercise.id[:4]}") first. Hints explain a failure.']
        return Card.of(note_card(title, not_yet), not_yet)
    taken = take_hint(course, exercise, standing, _digest(course, exercise, standing), at_once=now)
    place = len(taken.hints)
    notes = [taken.warning] if taken.warning else []
    if taken.waits_for_edit:
        notes.append(f"Hint {place + 1} comes after you change the code and run it.")
    head = f"{title}: {taken.title}"
    sentences = [fact(f"Hint {level} of {taken.total}", hint) for level, hint in enumerate(taken.hints, 1)]
    return Card.of(hint_card(head, taken.hints, taken.total, notes), [head, *sentences, *notes])


def _next_todo(course: Course, exercise: Exercise, standing: Standing) -> Todo | None:
    """Return the TODO to begin, if the last check asks for it; the cells as last run count."""
    if not may_start(standing):
        return None
    work, own = work_on(course, exercise), read_own(course, [exercise], folder=work_folder(course))
    if work.book is not None:
        cells = {**own.cells, exercise.file: work.book.cells}
        own = replace(own, sources={**own.sources, exercise.file: work.book.source}, cells=cells)
    return next_todo(read_todos(course, exercise, own))


def _digest(course: Course, exercise: Exercise, standing: Standing) -> str | None:
    source = work_on(course, exercise).source
    return digest_of(source) if source is not None else standing.hint_file


def _why(misconception: str | None) -> Card:
    course = read_course(find_course(folder()))
    progress = _progress(course)
    page, exercise = find_page(course, progress, misconception)
    title = f"{exercise.number} {exercise.title}" if exercise else page.exercise
    lesson = notebook_file(course, exercise).name if exercise else ""
    why_page = WhyPage(**{**asdict(page), "exercise": title, "lesson": lesson})
    again = [(f'check("{exercise.id[:4]}")', "after your next change")] if exercise else []
    return Card.of(why_card(why_page, again), sentences_of_page(why_page, again))


def _status() -> Card:
    course = read_course(find_course(folder()))
    progress = _progress(course)
    rows = rows_of(course, progress)
    current = progress.current(course)
    cells = [
        (f"{number(row.exercise.id)} {row.exercise.title}", row.word, row.checks, row.points, _here(row, current))
        for row in rows
    ]
    score = sum(row.score for row in rows)
    every = points(sum(exercise.points for exercise in course.exercises))
    passed = count_passed(course, progress)
    beside = (
        "; ".join(part_sentences(course, progress, rows).values()) or f"{passed}, {points(score)} of {every} points"
    )
    html = table_card(course.title, beside, ("exercise", "state", "checks", "points", ""), cells, [])
    sentences = [f"{course.title}: {beside}.", *(f"Exercise {', '.join(filter(None, row))}." for row in cells)]
    return Card.of(html, sentences)


def _here(row: ExerciseRow, current: Exercise | None) -> str:
    return "you are here" if row.exercise is current else ""


def _problem(sentence: str) -> Card:
    return Card.of(note_card("! NOT CHECKED", [sentence], kind="problem"), [ended(sentence)])
