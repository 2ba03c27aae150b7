"""The isolation that grading was asked for, opened on whatever machine grades."""

from collections.abc import Callable, Sequence

from autograder.course.suite import Suite
from autograder.runner.runner import EnvironmentProblem, Runner
from autograder.runner.sandbox.isolation import Isolation, IsolationError, open_isolation, process_isolation


def isolated(
    name: str,
    suite: Suite,
    *,
    device: str,
    jobs: int,
    command: Sequence[str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Isolation:
    """Open `sandbox`, the highest level that holds here, or `process`; `jobs` submissions run at a time.

    `command` starts a relay in a sandbox of another kind; `meanwhile` is called while a sandbox starts. Raises
    `EnvironmentProblem` where this machine cannot confine submissions.
    """
    if name == "process":
        return process_isolation()
    trusted = "--isolation process runs those that you trust, as you"
    if device != "cpu":
        raise EnvironmentProblem(f"the sandbox has no device but the cpu, asked was {device}; {trusted}")
    try:
        return open_isolation(Runner(suite, seed=suite.course.seed).warm_up(), jobs, command, meanwhile)
    except IsolationError as error:
        raise EnvironmentProblem(f"this machine cannot confine submissions: {error}; {trusted}") from None
