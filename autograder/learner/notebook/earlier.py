"""Import earlier exercises in a notebook: `from exNN_name import ...` finds the student's file or notebook.

So does `from exercises.exNN_name import ...`, with the same module.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

from autograder.course import CourseError, find_course, read_course
from autograder.course.stubs import StubError
from autograder.course.suite import SuiteError, parts_of_others
from autograder.learner.notebook.runs import folder
from autograder.learner.notebook.work import work_folder
from autograder.submission import SubmissionError
from autograder.submission.own_work import read_own
from autograder.worker import parts
from autograder.worker.package import PACKAGE, PackageLoader, package_spec, short_name

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
            vars(module).update(parts.build(self.part, module.__name__))

    def get_source(self, fullname: str) -> str:  # noqa: ARG002
        return importlib.util.decode_source(self.source)

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self.source, self.path)

    def is_package(self, fullname: str) -> bool:  # noqa: ARG002
        return False
