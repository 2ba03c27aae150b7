"""What a learner sees of 42 mistakes, three in each exercise, made by the real engine and read by a person.

Write the texts anew, and read them before they stay:

    UPDATE_SNAPSHOTS=1 pytest tests/autograder/report/test_report_mistakes.py
"""

import io
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from autograder.answer_key import patched, read_catalogue
from autograder.course import Exercise, Suite, load_suite, read_course
from autograder.judge import Grader
from autograder.report import UNICODE, render_exercise
from autograder.results import ExerciseResult
from autograder.runner import Runner
from autograder.submission import Submission, digest

SNAPSHOTS = Path(__file__).parent / "snapshots" / "mistakes"
COURSE = read_course(Path(__file__).parents[3])
MISTAKES = {
    "ex01_embeddings": ("embedding-not-scaled", "embedding-sequence-first", "embedding-detached"),
    "ex02_positional_encoding": ("positions-halves-concatenated", "positions-start-at-one", "positions-no-bound"),
    "ex03_layer_norm": ("layer-norm-unbiased-variance", "layer-norm-over-positions", "layer-norm-axis-not-kept"),
    "ex04_masks": ("masks-padding-inverted", "masks-look-ahead-one-too-far", "masks-padding-no-head-axis"),
    "ex05_attention": ("attention-not-scaled", "attention-mask-zeroes-scores", "attention-softmax-over-queries"),
    "ex06_multi_head_attention": ("heads-merged-without-transpose", "heads-one-projection", "heads-sizes-exchanged"),
    "ex07_feed_forward": ("feed-forward-gelu", "feed-forward-layers-swapped", "feed-forward-writes-into-input"),
    "ex08_encoder": ("encoder-pre-norm", "encoder-mask-not-passed", "encoder-blocks-in-a-list"),
    "ex09_decoder": ("decoder-cross-from-decoder", "decoder-exchanges-masks", "decoder-batch-axis-dropped"),
    "ex10_transformer": (
        "transformer-no-causal-mask",
        "transformer-softmax-in-forward",
        "transformer-last-position-only",
    ),
    "ex11_language_model": (
        "language-given-mask-ignored",
        "language-positions-missing",
        "language-logits-in-float32",
    ),
    "ex12_batching": ("batching-padded-left", "batching-no-shift", "batching-float-ids"),
    "ex13_training": ("training-padding-counted", "training-rate-fails-first", "training-gradients-add-up"),
    "ex14_generation": (
        "sampling-top-p-without-crossing",
        "generation-ended-rows-go-on",
        "beam-length-not-allowed-for",
    ),
}
MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")
ALL = [(exercise, mistake) for exercise, mistakes in MISTAKES.items() for mistake in mistakes]


@pytest.fixture(scope="module")
def graded() -> Iterator[Callable[[str, str], ExerciseResult]]:
    """Return what becomes of a mistake; all of them run in one worker, which nothing here kills."""
    suite = load_suite(COURSE)
    with Runner(suite, seed=COURSE.seed, shared=True) as runner:

        def grade(exercise_id: str, mistake: str) -> ExerciseResult:
            exercise = COURSE.exercise(exercise_id)
            with Grader(only(suite, exercise), seed=COURSE.seed, evidence=True) as grader:
                [result] = grader.report(submission_of(exercise, mistake), [exercise], runner).exercises
            return replace(result, checks=tuple(replace(check, seconds=0.01) for check in result.checks))

        yield cache(grade)


def only(suite: Suite, exercise: Exercise) -> Suite:
    """Return the suite with one check for every other exercise: those it builds on are right here."""
    brief = {name: tuple(replace(check, trials=1) for check in checks[:1]) for name, checks in suite.checks.items()}
    return replace(suite, checks={**brief, exercise.id: suite.checks[exercise.id]})


def submission_of(exercise: Exercise, mistake: str) -> Submission:
    """Return the solutions with one of them patched into a wrong program."""
    files = [needed.file for needed in COURSE.with_needs(exercise)]
    sources = {file: (COURSE.solutions_dir / file).read_bytes() for file in files}
    solution = sources[exercise.file].decode("utf-8")
    catalogue = read_catalogue(COURSE.solutions_dir / "misconceptions" / f"{exercise.id}.toml", solution)
    [wrong] = [entry for entry in catalogue if entry.id == mistake]
    program = "\n".join(line for line in patched(solution, wrong).split("\n") if line.strip() not in MARKERS)
    sources[exercise.file] = program.encode()
    return Submission("", tuple(files), sources, digest(sources), ())


def rendered(result: ExerciseResult) -> str:
    stream = io.StringIO()
    again = (f"course check {COURSE.exercise(result.id).number}", "after your next edit")
    console = Console(file=stream, width=80, force_terminal=False)
    render_exercise(console, result, file_path=None, next_commands=(again,), glyphs=UNICODE)
    return stream.getvalue()


@pytest.mark.worker
@pytest.mark.parametrize(
    ("exercise", "mistake"),
    ALL,
    ids=[mistake for _, mistake in ALL],
)
def test_a_mistake_is_shown_as_read(exercise: str, mistake: str, graded: Callable[[str, str], ExerciseResult]) -> None:
    text = rendered(graded(exercise, mistake))
    path = SNAPSHOTS / f"{mistake}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert alike(text, path.read_text(encoding="utf-8")), f"{path.name} differs from what is printed:\n{text}"
    assert len(text.splitlines()) <= 34
    assert all(cell_len(line) <= 80 for line in text.splitlines())


def alike(text: str, read: str) -> bool:
    """Return whether two texts say the same, with numbers that may differ as they do from machine to machine."""
    pairs = list(zip(text.split(), read.split(), strict=False))
    return len(text.split()) == len(read.split()) and all(one == other or close(one, other) for one, other in pairs)


def close(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one.strip(",;.()")), float(other.strip(",;.()")), rel_tol=0.02, abs_tol=0.002)
    except ValueError:
        return False


def test_texts_are_alike_up_to_the_last_digits_of_their_numbers() -> None:
    assert alike("yours 0.5531, ×", "yours 0.5532, ×")
    assert not alike("yours 0.5531 ×", "yours 0.6531 ×")
    assert not alike("yours 0.5531", "yours 0.5531 ×")
    assert not alike("query 1", "query 2")
