"""Run the example of the lesson on your code, before any check.

It shows your numbers beside those that the lesson computes on paper. It gives no points, and your progress does not
change.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cli import CommandParser, Part, Screen, add_exercise, add_json, warn
from autograder.course import (
    Course,
    Exercise,
    Grid,
    UsageError,
    find_course,
    load_suite,
    read_course,
    with_steps,
)
from autograder.diagnosis import Source
from autograder.ending import PASS
from autograder.judge import StepResult, outputs_of, plan_of, results_of
from autograder.progress import (
    Command,
    Progress,
    confinement_warning,
    exercise_meant,
    missing_sentence,
    read_progress,
    write_json,
)
from autograder.report import plural
from autograder.results import joined
from autograder.runner import Runner
from autograder.submission import read_own

if TYPE_CHECKING:
    pass


# Run the worked example of a lesson on the learner's own code: no points, and no part of the progress.

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
        run = runner.run(sources, plan_of(exercise, steps), probes="steps", reference_parts=parts, prints=True)
    source = Source(exercise.file, submission.sources[exercise.file], cells=submission.cells)
    memory = course.limits.memory_mib
    results = results_of(steps, run.outcomes.get(exercise.id, {}), exercise, source, memory)
    printed = dict.fromkeys(output.text for output in outputs_of(run.prints.get(exercise.id, {}), None))
    return TriedExample(exercise, results, tuple(replaced), tuple(printed))


# The command.

WITHOUT_NUMBERS = {
    "unwritten": "not written yet",
    "unseen": "cannot be seen",
    "failed": "no result",
    "differs": "another result",
}

MOST_PRINTED = 10
"""Lines of output beside the steps."""

_STYLES = {"equal": "green", "differs": "red", "unseen": "bright_black", "unwritten": "yellow", "failed": "red"}


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    does = "run the example on the files in a folder or a zip, not on your exercises/; they run with your rights"
    parser.add_argument("--submission", type=Path, metavar="DIR", help=does)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit with 0 whatever the numbers are: it is no check."""
    course = read_course(find_course())
    progress = read_progress(course)
    exercise = exercise_meant(course, progress, options.exercise)
    warn(confinement_warning(course, options.submission))
    tried = try_example(course, exercise, progress, folder=options.submission)
    if write_json(options.json, tried.to_json()):
        return PASS
    screen = Screen.of(options)
    screen.text(
        f"{exercise.number} {exercise.title}: the example of the lesson, with your code", indent=0, style="bold"
    )
    if tried.replaced:
        names = joined([earlier.number for earlier in tried.replaced])
        one = len(tried.replaced) == 1
        parts = "a reference part takes its place" if one else "reference parts take their place"
        why = "not passed a check yet" if options.submission is None else "no file there"
        screen.text(f"{names} {'has' if one else 'have'} {why}: {parts}.")
    screen.gap()
    if screen.plain:
        _show_sentences(screen, tried.steps)
    else:
        _show_table(screen, tried.steps)
    screen.gap()
    _show_printed(screen, tried)
    _show_problem(screen, tried)
    screen.gap()
    if options.submission is None:
        screen.next(_commands(course, tried))
    else:
        screen.next([(f"course check {exercise.number} --submission {options.submission}", "run the checks")])
    return PASS


def _show_sentences(screen: Screen, steps: Sequence[StepResult]) -> None:
    for step in steps:
        paper = " ".join(_lines(step.paper, step.paper))
        yours = _yours(step)
        result = "the same" if step.mark == "equal" else " ".join(yours)
        screen.text(f"{step.title}. On paper: {paper}. Yours: {result}.")


def _show_table(screen: Screen, steps: Sequence[StepResult]) -> None:
    """Print the steps with the paper beside your numbers; on a narrow screen the title stands above both."""
    papers = [_lines(step.paper, step.paper, step.yours or ()) for step in steps]
    yours = [_yours(step) for step in steps]
    title = max(len(screen.spell(step.title)) for step in steps)
    width = max(len("on paper"), *(len(line) for lines in papers for line in lines))
    widest = max(len(line) for lines in yours for line in lines)
    if 6 + width + 2 + widest > screen.width:
        _show_below(screen, steps, papers, yours)
        return
    beside = 4 + title + 2 + width + 2 + widest <= screen.width
    indent = title + 6 if beside else 6
    screen.line(" " * indent, ("on paper".ljust(width + 2), "bright_black"), ("yours", "bright_black"))
    for step, paper, own in zip(steps, papers, yours, strict=True):
        head: list[Part] = ["  ", (_mark(screen, step), _STYLES[step.mark]), " ", screen.spell(step.title)]
        if not beside:
            screen.line(*head)
            head = []
        for at in range(max(len(paper), len(own))):
            left, right = (lines[at] if at < len(lines) else "" for lines in (paper, own))
            space = " " * (indent - (4 + len(screen.spell(step.title)))) if head else " " * indent
            style = "" if step.mark == "equal" else _STYLES[step.mark] if right != left else ""
            screen.line(*head, space, f"{left:<{width}}  ", (right, style))
            head = []


def _show_below(
    screen: Screen, steps: Sequence[StepResult], papers: Sequence[Sequence[str]], yours: Sequence[Sequence[str]]
) -> None:
    """Print the steps with your numbers below the paper, where both have no room side by side."""
    for step, paper, own in zip(steps, papers, yours, strict=True):
        screen.line("  ", (_mark(screen, step), _STYLES[step.mark]), " ", screen.spell(step.title))
        parts = [("on paper", paper, "")]
        parts += [] if step.mark == "equal" else [("yours", own, _STYLES[step.mark])]
        for label, lines, style in parts:
            for at, line in enumerate(lines):
                screen.line("    ", ((label if not at else "").ljust(10), "bright_black"), (line, style))


def _mark(screen: Screen, step: StepResult) -> str:
    glyphs = screen.glyphs
    return {"equal": glyphs.passed, "differs": glyphs.failed, "failed": glyphs.failed}.get(step.mark, glyphs.waiting)


def _yours(step: StepResult) -> list[str]:
    return [WITHOUT_NUMBERS[step.mark]] if step.yours is None else _lines(step.yours, step.yours, step.paper)


def _lines(grid: Grid, *together: Grid) -> list[str]:
    """Write a grid with its columns aligned, as wide as in all grids `together`."""
    if sum(map(len, grid)) == 1:
        return [grid[0][0]]
    columns = max(map(len, grid))
    widths = [max(len(row[at]) for other in together for row in other if at < len(row)) for at in range(columns)]
    return [f"[{' '.join(word.rjust(width) for word, width in zip(row, widths, strict=False))}]" for row in grid]


def _show_printed(screen: Screen, tried: TriedExample) -> None:
    lines = [line for text in tried.printed for line in text.split("\n")]
    if not lines:
        return
    screen.text("Your code printed:")
    for line in lines[:MOST_PRINTED]:
        screen.line("    ", line)
    if lines[MOST_PRINTED:]:
        screen.text(f"and {plural(len(lines) - MOST_PRINTED, 'more line')}")
    screen.gap()


def _show_problem(screen: Screen, tried: TriedExample) -> None:
    """Print what is wrong in the first step that is not as on paper, and its line."""
    step = tried.first_problem
    if step is None or step.finding is None:
        marks = {step.mark for step in tried.steps}
        if marks == {"unseen"}:
            screen.text("Your code computes this in another way, so its steps cannot be seen. The checks can judge it.")
            return
        which = "every step that can be seen" if "unseen" in marks else "every step"
        screen.text(f"Your code gives the numbers on paper in {which}.", style="green")
        return
    screen.text(step.finding.message, style=_STYLES[step.mark])
    if step.finding.detail:
        screen.text(step.finding.detail)
    if (place := step.finding.place) is not None:
        where = f"cell {place.cell}, line {place.line}" if place.cell is not None else f"line {place.line}"
        screen.text(f"{place.file}, {where}")
        for number, text in step.finding.source:
            if number == place.line and not screen.plain:
                screen.line(
                    "    ", (f"{number} {screen.glyphs.gutter} ", "bright_black"), text.rstrip()[: screen.width - 12]
                )


def _commands(course: Course, tried: TriedExample) -> list[Command]:
    exercise, step = tried.exercise, tried.first_problem
    check = (f"course check {exercise.number}", "run the checks")
    if step is None:
        return [check]
    place = step.finding.place if step.finding else None
    file = place.file if place and place.cell is None else exercise.file
    line = f":{place.line}" if place and place.cell is None else ""
    return [
        (f"edit {course.exercises_dir.name}/{file}{line}", f"then course try {exercise.number}"),
        check,
    ]
