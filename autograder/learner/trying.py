"""Run the worked example of a lesson on the learner's own code: no points, and no part of the progress."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import (
    Course,
    Exercise,
    UsageError,
    load_suite,
    with_steps,
)
from autograder.diagnosis import Source
from autograder.judge import StepResult, outputs_of, plan_of_steps, results_of
from autograder.progress import Progress
from autograder.runner import Runner
from autograder.submission import missing_sentence, read_own

if TYPE_CHECKING:
    pass


# Run the worked example of a lesson on the learner's own code. It gives no points, and is not part of the progress.


@dataclass(frozen=True)
class TriedExample:
    """The steps of an example, and the earlier exercises that reference parts replace because they have not passed.

    `printed` has the texts that the code printed, each once.
    """

    exercise: Exercise
    steps: tuple[StepResult, ...]
    replaced: tuple[Exercise, ...]
    printed: tuple[str, ...] = ()

    @property
    def first_problem(self) -> StepResult | None:
        """The first step that is not as on paper; None if all are that can be seen."""
        return next((step for step in self.steps if step.mark not in ("equal", "unseen")), None)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of `course try --json`."""
        steps = [
            {
                "id": step.id,
                "title": step.title,
                "mark": step.mark,
                "paper": step.paper,
                "yours": step.yours,
                "message": step.finding.message if step.finding else None,
            }
            for step in self.steps
        ]
        return {"exercise": self.exercise.id, "replaced": [earlier.id for earlier in self.replaced], "steps": steps}


def try_example(course: Course, exercise: Exercise, progress: Progress, *, folder: Path | None = None) -> TriedExample:
    """Run the example of an exercise's lesson in a worker, as a check runs; with `folder`, on the files there.

    Reference parts replace the learner's earlier exercises that have not passed, and files that a `folder` lacks.

    Raises `UsageError` if there is no example or no file, and `EnvironmentProblem` or `GraderProblem`.
    """
    suite = with_steps(load_suite(course, [exercise]))
    if exercise.id not in suite.steps:
        advice = f"`course check {exercise.number}` checks your code."
        raise UsageError(f"The lesson of {exercise.number} {exercise.title} has no example to try. {advice}")
    needed = course.with_needs(exercise)
    submission = read_own(course, needed, folder=folder)
    if exercise.file not in submission.sources:
        missing = missing_sentence(course, exercise) if folder is None else f"{folder} contains no {exercise.file}."
        raise UsageError(submission.unread.get(exercise.file, missing))

    def is_ready(earlier: Exercise) -> bool:
        return earlier.file in submission.sources if folder is not None else progress.of(earlier).passes_now

    replaced = [
        earlier
        for earlier in needed
        if earlier is not exercise and earlier.file in suite.reference_parts and not is_ready(earlier)
    ]
    parts = {earlier.file: suite.reference_parts[earlier.file] for earlier in replaced}
    sources = {file: source for file, source in submission.sources.items() if file not in parts}
    steps = suite.steps[exercise.id]
    with Runner(suite, seed=course.seed, shared=True) as runner:
        run = runner.run(sources, plan_of_steps(exercise, steps), probes="steps", reference_parts=parts, prints=True)
    source = Source(exercise.file, submission.sources[exercise.file], cells=submission.cells)
    memory = course.limits.memory_mib
    results = results_of(steps, run.outcomes.get(exercise.id, {}), exercise, source, memory)
    printed = dict.fromkeys(output.text for output in outputs_of(run.prints.get(exercise.id, {}), None))
    return TriedExample(exercise, results, tuple(replaced), tuple(printed))
