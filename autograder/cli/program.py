"""Run one command, and turn every error into a sentence and an exit status."""

import contextlib
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder import ending
from autograder.cli.parser import parse
from autograder.cli.screen import warn
from autograder.course import CourseError, storage, trust
from autograder.course.names import UsageError
from autograder.exits import ENVIRONMENT, GRADER, INTERRUPTED, USAGE


def run_command(arguments: Sequence[str]) -> int:
    """Run one command, and return its exit status."""
    gc.set_threshold(10_000)  # a command makes hardly any cycles, and looking for them takes time
    _open_streams()
    trust.ask[:] = [_ask]
    storage.notes.clear()
    status = _status_of(arguments)
    for note in storage.new_notes():
        warn(note)
    return status


def _status_of(arguments: Sequence[str]) -> int:
    """Run one command. Return its exit status, after a sentence for an error."""
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except (UsageError, CourseError) as error:
        return _fail(USAGE, str(error))
    except trust.Untrusted as error:
        return _fail(ENVIRONMENT, str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ENVIRONMENT
    except KeyboardInterrupt:
        return _fail(INTERRUPTED, "stopped")
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        where = f" ({error.filename})" if error.filename else ""
        return _fail(ENVIRONMENT, f"{error.strerror or error}{where}")
    except Exception as error:
        return _report_engine_error(error)
    return status


def _run(arguments: Sequence[str]) -> int:
    """Parse the options and call the command. Help is printed here: argparse ignores a stream that fails."""
    help_text = io.StringIO()
    try:
        with contextlib.redirect_stdout(help_text):
            options = parse(arguments)
    except SystemExit as ended:
        sys.stdout.write(help_text.getvalue())
        return int(ended.code or 0)
    return int(options.command(options))


def _ask(root: Path) -> bool:
    from autograder.cli.trust import ask_on_terminal

    return ask_on_terminal(root)


def _open_streams() -> None:
    """Make the standard streams accept any text: they replace what they cannot encode; a closed one drops it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _report_engine_error(error: Exception) -> int:
    from autograder.answer_key.catalogue import CatalogueError
    from autograder.course.stubs import StubError
    from autograder.course.suite import SuiteError
    from autograder.runner.runner import CourseProblem, EnvironmentProblem, GraderProblem
    from autograder.submission import SubmissionError

    if isinstance(error, SubmissionError):
        return _fail(USAGE, str(error))
    if isinstance(error, EnvironmentProblem):
        return _fail(ENVIRONMENT, str(error))
    if isinstance(error, CatalogueError | CourseProblem | StubError | SuiteError):
        return _fail(USAGE, f"a file of this course is wrong: {error}")
    if isinstance(error, GraderProblem):
        return _fail(GRADER, f"the grader itself failed: {error}")
    if os.environ.get("COURSE_TRACEBACK"):
        raise error
    what = f"{type(error).__name__}: {error}"
    return _fail(GRADER, f"the grader itself failed ({what}); set COURSE_TRACEBACK=1 to see where, and report it")


def _fail(status: int, sentence: str) -> int:
    ending.hold()
    warn(sentence)
    return status
