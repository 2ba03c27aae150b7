"""Open the requested isolation on the machine that grades."""

from collections.abc import Callable, Sequence

from autograder.course.suite import Suite
from autograder.runner.runner import EnvironmentProblem, Runner
from autograder.runner.sandbox.isolation import Isolation, IsolationError, open_isolation, process_isolation


def open_grading_isolation(
    name: str,
    suite: Suite,
    *,
    device: str,
    jobs: int,
    command: Sequence[str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Isolation:
    """Open `sandbox`, at the highest isolation level of this machine, or `process`, for `jobs` submissions at a time.

    `command` starts a relay in another kind of sandbox. `meanwhile` is called while the sandbox starts. Raises
    `EnvironmentProblem` if this machine cannot confine submissions.
    """
    if name == "process":
        return process_isolation(suite.course.libraries)
    trusted = "for submissions you trust, use --isolation process, which runs them with your permissions"
    if device != "cpu":
        raise EnvironmentProblem(f"the sandbox supports only the CPU, not {device}; {trusted}")
    try:
        return open_isolation(Runner(suite, seed=suite.course.seed).warm_up(), jobs, command, meanwhile)
    except IsolationError as error:
        raise EnvironmentProblem(f"this machine cannot confine submissions: {error}; {trusted}") from None
