"""The notebook as last run: the file on disk, with each cell replaced by its latest run.

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
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from autograder.course import (
    Course,
    CourseError,
    Exercise,
    StubError,
    SuiteError,
    find_course,
    parts_of_others,
    read_course,
)
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
        if not _parses(run.source):
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


def _parses(source: str) -> bool:
    return _tree(source) is not None


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
