"""The check that a notebook asks for, in a process of its own: `python -m autograder.learner.notebook.judging`.

The process that decides never runs anybody's implementation, and the kernel runs the student's. It reads one request
as JSON from the standard input, and writes a line of JSON for each thing there is to tell, the result last.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import ending
from autograder.cli.check import checked
from autograder.course import Course, CourseError, Exercise, read_course
from autograder.course.stubs import StubError
from autograder.course.suite import SuiteError
from autograder.course.trust import Untrusted
from autograder.learner.progress.record import record
from autograder.runner.runner import EnvironmentProblem, GraderProblem
from autograder.submission import Submission, SubmissionError
from autograder.submission.own import read_own
from autograder.submission.submission import digest


def main() -> int:
    """Answer one request; a kernel that is interrupted ends this process, and its workers with it."""
    ending.install()
    request = json.load(sys.stdin)
    try:
        course = read_course(Path(request["root"]))
        folder = Path(request["folder"]) if request["folder"] else None
        exercise = course.exercise(request["exercise"])
        submission = submitted(course, exercise, request["live"], folder)
        report = checked(course, [exercise], submission, seed=course.seed, on_progress=_told)
        kept = record(course, report, submission.sources, command="check") if request["kept"] else None
    except (CourseError, Untrusted, SubmissionError, StubError, EnvironmentProblem, OSError) as error:
        _tell({"problem": str(error)})
    except (GraderProblem, SuiteError) as error:
        _tell({"problem": f"the grader itself failed: {error}"})
    else:
        unkept = f"your progress could not be kept: {kept.problem.strerror}" if kept and kept.problem else None
        _tell({"report": report.to_json(), "unkept": unkept})
    return 0


def submitted(course: Course, exercise: Exercise, live: Mapping[str, Any] | None, folder: Path | None) -> Submission:
    """Return a learner's work, in exercises/ or in a folder, with the notebook as last run in the place of its file."""
    own = read_own(course, folder=folder)
    if live is None:
        return own
    sources = {**own.sources, exercise.file: live["source"].encode()}
    cells = {**own.cells, exercise.file: tuple((line, cell) for line, cell in live["cells"])}
    return replace(own, sources=sources, cells=cells, digest=digest(sources))


def _told(_exercise: str, done: int, everything: int) -> None:
    _tell({"told": [done, everything]})


def _tell(message: Mapping[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
