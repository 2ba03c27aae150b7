"""The graders that are compared: how each is set up, run in its fastest way, and read."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from marks import Marks, Reports, reports_in
from synthetic import Synthetic, notebook

from autograder.ending import ENVIRONMENT

ROOT = Path(__file__).parents[1]
RIVALS = Path(__file__).parent / "rivals"
PATIENCE = 300
"""The processor seconds per submission of a grader without a limit of its own; beyond them it gives no marks. They do
not pass while the grader is paused, as wall time would."""


@dataclass(frozen=True)
class Class:
    """One set of submissions and what they are graded against.

    `folder` holds the course, the submissions as `folders/STUDENT`, and what each contestant makes. `python` is the
    rivals' Python, `points` the hundredths of each check by exercise, those for a bonus too.
    """

    folder: Path
    python: Path
    submissions: Sequence[Synthetic]
    points: Mapping[str, Mapping[str, int]]
    seed: int
    jobs: int

    @property
    def course(self) -> Path:
        return self.folder / "course"

    def folder_of(self, submission: Synthetic) -> Path:
        return self.folder / "folders" / submission.student

    def environment(self) -> dict[str, str]:
        """Return the environment of every contestant: one thread per process, and no settings of the user."""
        own = str(self.folder / "home")
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        return {
            **threads,
            "COURSE_TRUST": "1",  # the course is a copy of this one
            "PATH": os.pathsep.join([str(self.python.parent), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([str(RIVALS), str(ROOT)]),
            "PLAIN_CHECKS": str(self.folder),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "HOME": own,
            "JUPYTER_CONFIG_DIR": own,
            "JUPYTER_DATA_DIR": own,
            "IPYTHONDIR": own,
            "LANG": "C.UTF-8",
        }

    def call(self, command: Iterable[str | Path], cwd: Path, log: Path | None = None) -> int:
        """Run a command and return its exit status. A command without a log grades one submission, within limits."""
        limited = [] if log else ["sh", "-c", f'ulimit -t {PATIENCE}; exec "$@"', "sh"]
        with (log or Path(os.devnull)).open("wb") as output:
            return subprocess.run(
                [*limited, *map(str, command)],
                cwd=cwd,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode


class Unavailable(Exception):
    """This machine cannot run the grader; the message says why."""


class Contestant(ABC):
    """A grader: `prepare` is not timed, `run` is."""

    name: str

    def __init__(self, class_: Class) -> None:
        self.of = class_
        self.folder = class_.folder / self.name

    def prepare(self) -> None:
        """Set up everything that is needed once, however often the submissions are graded."""
        self.folder.mkdir()

    @abstractmethod
    def clear(self) -> None:
        """Remove the output of the last run."""

    @abstractmethod
    def run(self) -> None:
        """Grade all submissions."""

    @abstractmethod
    def marks(self) -> Marks:
        """Return the marks of the last run."""


class Pytest(Contestant):
    """Plain pytest: a process for each submission, as many at a time as there are jobs."""

    name = "pytest"

    def run(self) -> None:
        with ThreadPoolExecutor(self.of.jobs) as pool:
            list(pool.map(self._grade, self.of.submissions))

    def _grade(self, submission: Synthetic) -> None:
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", RIVALS]
        tests = RIVALS / "plain_pytest.py"
        command = [self.of.python, "-m", "pytest", *options, f"--junitxml={self._file(submission)}", tests]
        self.of.call(command, self.of.folder_of(submission))

    def _file(self, submission: Synthetic) -> Path:
        return self.folder / f"{submission.student}.xml"

    def clear(self) -> None:
        for file in self.folder.glob("*.xml"):
            file.unlink()

    def marks(self) -> Marks:
        there = [submission for submission in self.of.submissions if self._file(submission).is_file()]
        return {submission.student: self._marks(ElementTree.parse(self._file(submission))) for submission in there}

    def _marks(self, tests: "ElementTree.ElementTree[ElementTree.Element]") -> dict[str, int]:
        passed = {case.get("name", "") for case in tests.iter("testcase") if len(case) == 0}
        return {
            exercise: sum(points for check, points in checks.items() if f"test_check[{exercise}-{check}]" in passed)
            for exercise, checks in self.of.points.items()
        }


class Nbgrader(Contestant):
    """nbgrader as it ships: `nbgrader autograde` goes through the submissions by itself, one after another."""

    name = "nbgrader"

    def prepare(self) -> None:
        super().prepare()
        (self.folder / "nbgrader_config.py").write_text(
            "c = get_config()\n"
            f"c.CourseDirectory.root = {str(self.folder)!r}\n"
            "c.CourseDirectory.course_id = 'course'\n"
            f"c.CourseDirectory.db_url = 'sqlite:///{self.folder}/gradebook.db'\n"
            f"c.ExecutePreprocessor.timeout = {PATIENCE}\n"
            f"c.ExecutePreprocessor.startup_timeout = {PATIENCE}\n"  # a pause counts: see beside.py
            f"c.ExecutePreprocessor.iopub_timeout = {PATIENCE}\n"
        )
        (self.folder / "source" / "all").mkdir(parents=True)
        (self.folder / "source" / "all" / "all.ipynb").write_text(self._source(), "utf-8")
        log = self.folder / "generate.log"
        if self.of.call([*self._program(), "generate_assignment", "all"], self.folder, log) != 0:
            raise SystemExit(f"nbgrader could not make the assignment:\n{log.read_text('utf-8')[-2000:]}")
        released = json.loads((self.folder / "release" / "all" / "all.ipynb").read_text("utf-8"))
        for submission in self.of.submissions:
            self._hand_in(submission, released)

    def _source(self) -> str:
        cells = [("import plain_checks\nPLAIN = plain_checks.loaded()", _cell("setup", locked=True))]
        for exercise, points in self.of.points.items():
            cells.append(("raise NotImplementedError", _cell(f"code-{exercise}", solution=True)))
            most = sum(points.values()) / 100
            cells.append((f"PLAIN.score({exercise!r})", _cell(exercise, grade=True, locked=True, points=most)))
        return notebook(cells)

    def _hand_in(self, submission: Synthetic, released: Mapping[str, list[dict[str, object]]]) -> None:
        sources = {f"code-{exercise}": source for exercise, source in submission.cells().items()}
        cells = []
        for cell in released["cells"]:
            grade_id = cell["metadata"]["nbgrader"]["grade_id"]  # type: ignore[index]
            cells.append({**cell, "source": sources.get(grade_id, "")} if grade_id.startswith("code-") else cell)
        file = self.folder / "submitted" / submission.student / "all" / "all.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({**released, "cells": cells}), "utf-8")

    def clear(self) -> None:
        shutil.rmtree(self.folder / "autograded", ignore_errors=True)

    def run(self) -> None:
        self.of.call([*self._program(), "autograde", "all", "--force"], self.folder, self.folder / "autograde.log")

    def _program(self) -> list[str | Path]:
        return [self.of.python, "-m", "nbgrader"]

    def marks(self) -> Marks:
        command = [self.of.python, RIVALS / "nbgrader_marks.py", f"sqlite:///{self.folder}/gradebook.db", "all"]
        done = subprocess.run(command, env=self.of.environment(), capture_output=True, text=True, check=True)
        graded = {file.parent.name for file in (self.folder / "autograded").glob("*/all")}
        points: Mapping[str, Mapping[str, float]] = json.loads(done.stdout)
        return {
            student: {exercise: round(100 * mark) for exercise, mark in marks.items()}
            for student, marks in points.items()
            if student in graded
        }


class Otter(Contestant):
    """`otter run`: a process, and a kernel beside it, for each submission; as many at a time as there are jobs."""

    name = "otter"

    def prepare(self) -> None:
        super().prepare()
        with zipfile.ZipFile(self.folder / "autograder.zip", "w") as archive:
            archive.writestr("otter_config.json", json.dumps({"pdf": False, "print_summary": False}))
            for exercise, points in self.of.points.items():
                archive.writestr(f"tests/{exercise}.py", self._tests(exercise, points))
        for submission in self.of.submissions:
            (self.folder / submission.student).mkdir()
            text = notebook([(cell, {}) for cell in submission.cells().values()] or [("", {})])
            (self.folder / submission.student / "all.ipynb").write_text(text, "utf-8")

    def _tests(self, exercise: str, points: Mapping[str, int]) -> str:
        lines = ["import plain_checks", "from otter.test_files import test_case", "OK_FORMAT = False"]
        lines += [f"name = {exercise!r}", "points = None"]
        for check, hundredths in points.items():
            lines += [f"@test_case(points={hundredths / 100})", f"def test_{check}(env):"]
            lines += [f"    assert plain_checks.loaded().counts({exercise!r}, {check!r})"]
        return "\n".join(lines) + "\n"

    def clear(self) -> None:
        for file in self.folder.glob("*/results.json"):
            file.unlink()

    def run(self) -> None:
        with ThreadPoolExecutor(self.of.jobs) as pool:
            list(pool.map(self._grade, self.of.submissions))

    def _grade(self, submission: Synthetic) -> None:
        options = ["--no-logo", "-a", self.folder / "autograder.zip", "-o", "."]
        self.of.call([self.of.python, "-m", "otter", "run", *options, "all.ipynb"], self.folder / submission.student)

    def marks(self) -> Marks:
        found = {}
        for submission in self.of.submissions:
            file = self.folder / submission.student / "results.json"
            tests = json.loads(file.read_text("utf-8"))["tests"] if file.is_file() else []
            marks = {test["name"]: round(100 * test["score"]) for test in tests if test["name"] in self.of.points}
            if marks:
                found[submission.student] = marks
        return found


_ISOLATION = "course: isolation "


class Course(Contestant):
    """`course grade`: this kit. It also names the mistake and its location, which no other grader here does."""

    isolation = "process"
    program: Sequence[str | Path] = ("-m", "autograder")

    def prepare(self) -> None:
        """Grade once to make the answer keys: untimed, like the rivals' file of expected results."""
        super().prepare()
        self.run()

    def clear(self) -> None:
        shutil.rmtree(self.folder / "out", ignore_errors=True)

    def run(self) -> None:
        options = ["--jobs", str(self.of.jobs), "--isolation", self.isolation, "--seed", str(self.of.seed), "--plain"]
        command = [sys.executable, *self.program, "grade", "../folders", "--out", self.folder / "out", *options]
        if (status := self.of.call(command, self.of.course, self.folder / "grade.log")) == ENVIRONMENT:
            raise Unavailable(self.log().splitlines()[-1])
        if status != 0:
            raise SystemExit(f"no figure, for {self.name} ended with exit status {status}:\n{self.log()[-2000:]}")

    def isolated(self) -> str:
        """Return the isolation that the last run printed."""
        isolation = next(line for line in self.log().splitlines() if line.startswith(_ISOLATION))
        return isolation.removeprefix(_ISOLATION)

    def log(self) -> str:
        """Return the output of the last run."""
        return (self.folder / "grade.log").read_text("utf-8").strip()

    def reports(self) -> Reports:
        """Return the reports of the last run, by student."""
        return reports_in(self.folder / "out")

    def marks(self) -> Marks:
        return {
            student: {exercise["id"]: exercise["score"] for exercise in report["exercises"]}
            for student, report in self.reports().items()
        }


class Unconfined(Course):
    """`course grade --isolation process`: a process for each submission, with the rights of the user."""

    name = "course-process"
    isolation = "process"


class Unwalled(Course):
    """The warm worker processes of the sandbox, without its confinement."""

    name = "course-unwalled"
    isolation = "sandbox"
    program = (Path(__file__).parent / "unwalled.py",)


class Confined(Course):
    """`course grade --isolation sandbox`: a confined process for each submission."""

    name = "course-sandbox"
    isolation = "sandbox"


def _cell(
    grade_id: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict[str, object]:
    own = {"schema_version": 3, "grade": grade, "solution": solution, "locked": locked, "task": False}
    return {"nbgrader": {**own, "grade_id": grade_id, **({} if points is None else {"points": points})}}
