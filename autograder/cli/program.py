"""One run of the program `course`. Nothing heavy is imported before it is needed: `course hint` answers at once."""

import contextlib
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder import ending
from autograder.cli.parser import parse
from autograder.course import CourseError, trust
from autograder.course.names import UsageError
from autograder.exits import ENVIRONMENT, GRADER, INTERRUPTED, USAGE


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; every error a user can cause becomes a sentence and an exit status."""
    gc.set_threshold(10_000)  # hardly anything it makes is garbage in a cycle, and to look takes its time
    _open_streams()
    trust.ask[:] = [_ask]
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        return _fail(USAGE, str(error))
    except CourseError as error:
        missing = all(problem.line is None for problem in error.problems) and not (error.problems[1:])
        return _fail(USAGE if missing else ENVIRONMENT, str(error))
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
        return _of_engine(error)
    return status


def _run(arguments: Sequence[str]) -> int:
    """Run what is asked for. Help is printed here: the parser would pass over a stream that takes nothing."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told):
            options = parse(arguments)
    except SystemExit as ended:
        sys.stdout.write(told.getvalue())
        return int(ended.code or 0)
    return int(options.command(options))


def _ask(root: Path) -> bool:
    from autograder.cli.trust import ask_on_terminal

    return ask_on_terminal(root)


def _open_streams() -> None:
    """Make the standard streams take any text: what an encoding lacks is replaced, a closed one swallows it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _of_engine(error: Exception) -> int:
    from autograder.course.suite import SuiteError
    from autograder.runner.runner import EnvironmentProblem, GraderProblem
    from autograder.submission import SubmissionError

    if isinstance(error, SubmissionError):
        return _fail(USAGE, str(error))
    if isinstance(error, EnvironmentProblem):
        return _fail(ENVIRONMENT, str(error))
    if isinstance(error, GraderProblem | SuiteError):
        return _fail(GRADER, f"the grader itself failed: {error}")
    if os.environ.get("COURSE_TRACEBACK"):
        raise error
    what = f"{type(error).__name__}: {error}"
    return _fail(GRADER, f"the grader itself failed ({what}); COURSE_TRACEBACK=1 shows where, please report it")


def _fail(status: int, sentence: str) -> int:
    ending.hold()
    print(f"course: {sentence}", file=sys.stderr)
    return status
