"""Run the check for a notebook, in a process of its own: `python -m autograder.notebook.judging`.

The kernel runs the student's code, and the process that judges must never do that. It reads one request as JSON from
stdin, and writes a line of JSON for each progress report, the result last.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import ending
from autograder.course import Course, CourseError, Exercise, StubError, SuiteError, Untrusted, read_course
from autograder.progress import check_submission, record
from autograder.runner import CourseProblem, EnvironmentProblem, GraderProblem
from autograder.submission import Submission, SubmissionError, digest, read_own


def main() -> int:
    """Answer one request. A kernel that is interrupted ends this process and its workers."""
    ending.install()
    request = json.load(sys.stdin)
    try:
        course = read_course(Path(request["root"]))
        folder = Path(request["folder"]) if request["folder"] else None
        exercise = course.exercise(request["exercise"])
        submission = submitted(course, exercise, request["live"], folder)
        device = request["device"]
        report = check_submission(
            course, [exercise], submission, seed=course.seed, device=device, on_progress=_on_progress
        )
        saved = record(course, report, submission.sources, command="check") if request["kept"] else None
    except (CourseError, Untrusted, SubmissionError, StubError, EnvironmentProblem, OSError) as error:
        _send({"problem": str(error)})
    except (CourseProblem, SuiteError) as error:
        _send({"problem": f"a file of this course is wrong: {error}"})
    except GraderProblem as error:
        _send({"problem": f"the grader itself failed: {error}"})
    else:
        _send({"report": report.to_json(), "warning": saved.warning if saved else ""})
    return 0


def submitted(course: Course, exercise: Exercise, live: Mapping[str, Any] | None, folder: Path | None) -> Submission:
    """Return a learner's work; the running notebook, if there is one, replaces its file."""
    own = read_own(course, folder=folder)
    if live is None:
        return own
    sources = {**own.sources, exercise.file: live["source"].encode()}
    cells = {**own.cells, exercise.file: tuple((line, cell) for line, cell in live["cells"])}
    return replace(own, sources=sources, cells=cells, digest=digest(sources))


def _on_progress(_exercise: str, done: int, total: int) -> None:
    _send({"progress": [done, total]})


def _send(message: Mapping[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
