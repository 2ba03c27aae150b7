"""The pytest plugin: every check of a course is a test item, run in a worker process and judged outside of it.

`pytest tests/exercises` checks exercises/; `--submission` names another folder or zip, `--device` another device.
Files for pytest in a submission (conftest.py, pytest.ini) are refused, not used.
"""

from pathlib import Path

import pytest

from autograder.checks import Check
from autograder.course import (
    COURSE_FILE,
    Course,
    CourseError,
    Untrusted,
    find_course,
    left_out,
    load_suite,
    read_course,
    require,
)
from autograder.judge import Grader
from autograder.report import print_text
from autograder.results import CheckResult, ExerciseResult, Report
from autograder.runner import EnvironmentProblem
from autograder.submission import Submission, SubmissionError, read_own, unconfined_warning

SESSION = pytest.StashKey["CourseSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a course's checks."""
    group = parser.getgroup("course", "checks of a course")
    group.addoption("--submission", metavar="DIR", help="the folder or zip to check (default: exercises/)")
    group.addoption("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps")
    group.addoption("--seed", type=int, metavar="N", help="use other inputs and weights")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Refuse to import an untrusted course, or to run with the configuration of a submission."""
    for argument in early_config.known_args_namespace.file_or_dir or [str(early_config.invocation_params.dir)]:
        _require_trust(Path(early_config.invocation_params.dir, argument.split("::")[0]))
    submission = _submission_path(early_config.known_args_namespace.submission)
    if submission is None or not submission.is_dir():
        return
    if early_config.inipath is not None and _within(submission, early_config.inipath):
        raise pytest.UsageError(
            f"pytest took its configuration from the submission ({early_config.inipath}); "
            "name the checks first and write --submission=DIR with an equals sign"
        )
    here = str(early_config.invocation_params.dir)
    for argument in early_config.known_args_namespace.file_or_dir or [here]:
        if _within(submission, Path(argument.split("::")[0])):
            raise pytest.UsageError(f"{argument} is part of the submission; name the folder of the checks instead")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Warn that the files of a submission run without a sandbox."""
    submission = _submission_path(config.getoption("--submission"))
    return unconfined_warning(submission) if submission is not None else None


def pytest_configure(config: pytest.Config) -> None:
    """Keep one course session for the whole run."""
    config.stash[SESSION] = CourseSession(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the workers of the run."""
    session = config.stash.get(SESSION, None)
    if session is not None:
        session.close()


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> "CheckItem | None":
    """Make a test item of every declared check."""
    check = getattr(obj, "__check__", None)
    if not isinstance(check, Check):
        return None
    return CheckItem.from_parent(collector, name=name, check=check)


class CheckItem(pytest.Item):
    """One check. Everything but a pass is a failure. It is skipped only if its exercise is left out."""

    def __init__(self, *, check: Check, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.check = check

    @property
    def exercise_id(self) -> str:
        """Return the id of the exercise, from the name of the file."""
        return self.path.stem.removeprefix("test_")

    def runtest(self) -> None:
        """Run the check; raise `CheckFailedError` if it does not pass."""
        result, printed = self.config.stash[SESSION].result(self)
        if printed:
            self.add_report_section("call", "stdout", printed)
        self.user_properties += [("points", result.score / 100), ("max_points", result.max_score / 100)]
        if result.status != "pass":
            raise CheckFailedError(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002
        """Return the failure as text."""
        if isinstance(excinfo.value, CheckFailedError):
            return failure_report(excinfo.value.result)
        if isinstance(excinfo.value, CourseError | SubmissionError | EnvironmentProblem):
            return f"{type(excinfo.value).__name__}: {excinfo.value}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the check is declared, and its title."""
        return self.path, self.check.probe.__code__.co_firstlineno - 1, f"{self.exercise_id}: {self.check.title}"


class CheckFailedError(Exception):
    """A check did not pass."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__(result.status)
        self.result = result


def failure_report(result: CheckResult) -> str:
    """Return why a check failed, and the first hint."""
    from autograder.report import check_state, failure_text, failure_view  # only for a failure

    view = failure_view(result)
    hints = [f"{label}: {hint}" for label, hint in view.hints]
    return "\n".join([f"{check_state(result).word}: {view.title}", failure_text(view), *hints])


def no_exercise(course: Course, item: CheckItem) -> str:
    """Return why checks cannot run: their exercise is not in course.toml, or the class does not take it."""
    if item.exercise_id in (exercise.id for exercise in course.every):
        return f"{COURSE_FILE} does not take {item.exercise_id}, so its checks do not run; name the other files"
    return f"{COURSE_FILE} has no exercise {item.exercise_id}; remove {item.path.name}, or rename it after an exercise"


class CourseSession:
    """Grade an exercise when the first of its checks is run, and keep the results."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._course: Course | None = None
        self._submission: Submission | None = None
        self._results: dict[str, ExerciseResult] = {}

    def result(self, item: CheckItem) -> tuple[CheckResult, str]:
        """Return the result of one check, and what the student's code printed in it."""
        if item.exercise_id not in self._results:
            [self._results[item.exercise_id]] = self._grade(item).exercises
        exercise = self._results[item.exercise_id]
        [result] = [check for check in exercise.checks if check.id == item.check.id]
        return result, print_text(exercise.prints, item.check.id)

    def close(self) -> None:
        """Drop the results."""
        self._results.clear()

    def _grade(self, item: CheckItem) -> Report:
        course = self._course = self._course or read_course(find_course(item.path.parent))
        exercises = [exercise for exercise in course.exercises if exercise.id == item.exercise_id]
        if not exercises:
            if any(one.missing for one in course.others if one.id == item.exercise_id):
                pytest.skip(left_out(course))
            pytest.fail(no_exercise(course, item), pytrace=False)
        path = _submission_path(self.config.getoption("--submission"))
        submission = self._submission = self._submission or read_own(course, folder=path)
        suite = load_suite(course, course.with_needs(exercises[0]))
        seed = self.config.getoption("--seed")
        device = self.config.getoption("--device")
        with Grader(suite, seed=course.seed if seed is None else seed, device=device, evidence=True) as grader:
            return grader.grade(submission, exercises)


def _require_trust(path: Path) -> None:
    """Refuse to import the checks of a course that this user does not trust yet."""
    try:
        require(find_course(path))
    except Untrusted as error:
        raise pytest.UsageError(str(error)) from None
    except CourseError:
        pass  # not a folder of a course, so there are no checks to import


def _submission_path(given: str | None) -> Path | None:
    return Path(given).resolve() if given else None


def _within(folder: Path, path: Path) -> bool:
    return folder in (path.resolve(), *path.resolve().parents)
