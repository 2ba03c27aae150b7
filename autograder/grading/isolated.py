"""The isolation that grading was asked for, opened on whatever machine grades."""

from autograder.judge.runner import EnvironmentProblem, Runner
from autograder.judge.sandbox.isolation import Isolation, IsolationError, open_isolation, process_isolation
from autograder.judge.suite import Suite


def isolated(name: str, suite: Suite, *, seed: int, device: str, jobs: int) -> Isolation:
    """Open `sandbox`, the highest level that holds here, or `process`; `jobs` submissions run at a time.

    Raises `EnvironmentProblem` where this machine cannot confine submissions.
    """
    if name == "process":
        return process_isolation()
    try:
        return open_isolation(Runner(suite, seed=seed, device=device).warm_up(), jobs)
    except IsolationError as error:
        found = f"this machine cannot confine submissions: {error}"
        raise EnvironmentProblem(f"{found}; --isolation process runs those that you trust") from None
