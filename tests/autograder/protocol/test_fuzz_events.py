"""Whatever a worker sends, a run of checks ends in verdicts, and only correct answers that were sent pass."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from autograder.answer_key import Keys
from autograder.checks import Key
from autograder.comparison import Expected, judge_observation
from autograder.judge import Grader
from autograder.protocol import WIDTH, Array
from autograder.report import glyphs_for, render_report, report_console
from autograder.results import Report, from_json
from autograder.runner import EnvironmentProblem, GraderProblem, Runner
from autograder.runner import runner as runner_module
from autograder.runner.process import End
from autograder.submission import Submission
from tests.support import fuzzing, tiny
from tests.support.fuzzing import ENDS, Event, Script, bounded, hostile, seeds

Answers = Mapping[str, Mapping[Key, Expected]]

SEED = tiny.COURSE.seed
PLAN = tiny.SUITE.plan(tiny.SUITE.exercises)
PROGRAMS = (
    tiny.submitted(),
    tiny.submitted(tiny.mean_with("return x.cumsum(dim=-1)")),
    tiny.submitted(tiny.mean_with("return (x / count)[..., :, None].sum(dim=-1) + missing")),
    tiny.submitted(tiny.mean_with("return {'a': [x, None, 'text'], 'b': x.shape, 'c': len}")),
)


@dataclass(frozen=True)
class Recordings:
    """The events of real workers for some programs, plain and traced, after `ready`; and the surveys of the files."""

    surveys: Mapping[str, Event] = field(repr=False)
    logs: tuple[tuple[Event, ...], ...] = field(repr=False)


@pytest.fixture(scope="module")
def recordings() -> Recordings:
    logs: list[tuple[Event, ...]] = []
    with pytest.MonkeyPatch.context() as patch, Runner(tiny.SUITE, seed=SEED, shared=True) as own:
        patch.setattr(runner_module, "WorkerProcess", fuzzing.Recording)
        for program in PROGRAMS:
            for trace in (False, True):
                patch.setattr(fuzzing.Recording, "recorded", [], raising=False)
                own.run(program.sources, PLAN, trace=trace)
                logs.append(tuple(event for event in fuzzing.Recording.recorded if event["event"] != "ready"))
    surveys = {event["exercise"]: event for event in logs[0] if event["event"] == "surveyed"}
    return Recordings(surveys, tuple(logs))


@pytest.fixture(scope="module")
def answers(key_cache: Path) -> Answers:
    with Keys(tiny.SUITE, seed=SEED, cache=key_cache) as keys:
        return {exercise.id: keys.reference(exercise).reference for exercise in tiny.SUITE.exercises}


@pytest.fixture(scope="module")
def judge(key_cache: Path) -> Iterator[Grader]:
    with Grader(tiny.SUITE, seed=SEED, evidence=True, cache=key_cache) as made:
        yield made


def script(recordings: Recordings, seed: int, changes: int, *, honest: bool) -> Script:
    """Return the scripts of one to three workers, each a changed recording of a real one."""
    random = Random(seed)
    logs = [random.choice(recordings.logs) for _ in range(random.randint(1, 3))]
    first = [next(at for at, event in enumerate(log) if event["event"] == "load") + 1 if honest else 0 for log in logs]
    lives = [
        (hostile(random, log[start:], changes), random.choice(ENDS)) for log, start in zip(logs, first, strict=True)
    ]
    sound = frozenset(id(event) for log in recordings.logs for event in log)
    return Script(lives, recordings.surveys if honest else None, sound)


@pytest.mark.worker
@bounded(1500)
@given(seeds, some.integers(0, 6), some.booleans())
def test_any_answers_at_all_end_in_outcomes_or_in_a_declared_problem(
    recordings: Recordings, seed: int, changes: int, shared: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, script(recordings, seed, changes, honest=False))
        try:
            found = fuzzing.scripted_runner(tiny.SUITE, SEED, shared=shared).run({}, PLAN)
        except (GraderProblem, EnvironmentProblem):
            return
    settled(found.outcomes)


@pytest.mark.worker
@bounded(3000)
@given(seeds, some.integers(0, 6), some.booleans())
def test_whatever_a_students_code_makes_a_worker_send_every_trial_has_an_outcome(
    recordings: Recordings, seed: int, changes: int, shared: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, script(recordings, seed, changes, honest=True))
        settled(fuzzing.scripted_runner(tiny.SUITE, SEED, shared=shared).run({}, PLAN).outcomes)


def settled(outcomes: Mapping[str, Mapping[Any, object]]) -> None:
    """Assert that every trial has an outcome, and nothing else has one."""
    assert {exercise: set(keys) for exercise, keys in PLAN.items()} == {
        exercise: set(found) for exercise, found in outcomes.items()
    }


@bounded(1000)
@given(seeds, some.integers(0, 6), some.sampled_from(PROGRAMS))
def test_whatever_was_sent_the_report_is_whole_and_only_right_answers_earn(
    recordings: Recordings, judge: Grader, answers: Answers, seed: int, changes: int, submission: Submission
) -> None:
    scripted = script(recordings, seed, changes, honest=True)
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, scripted)
        report = judge.grade(submission, runner=fuzzing.scripted_runner(tiny.SUITE, SEED))
    assert "grader_error" not in report.statuses, problems_of(report)
    assert earned(report) <= answered(scripted.sent, answers)
    assert from_json(json.loads(json.dumps(report.to_json(), allow_nan=False))).score == report.score
    rendered(report)


def problems_of(report: Report) -> list[str | None]:
    return [check.finding.detail for one in report.exercises for check in one.checks if check.finding]


def earned(report: Report) -> set[tuple[str, str]]:
    return {(one.id, check.id) for one in report.exercises for check in one.checks if check.status == "pass"}


def answered(sent: Sequence[Event], answers: Answers) -> set[tuple[str, str]]:
    """Return the checks for which the correct answer of every trial was sent."""
    return {
        (exercise, check.id)
        for exercise, checks in tiny.SUITE.checks.items()
        for check in checks
        if all(
            _was_sent(sent, exercise, (check.id, trial), answers[exercise], check.judge)
            for trial in range(check.trials)
        )
    }


def _was_sent(sent: Sequence[Event], exercise: str, at: tuple[str, int], reference: Any, judge: Any) -> bool:
    values = [
        event["value"]
        for event in sent
        if event.get("event") == "observed"
        and (event.get("exercise"), event.get("check"), event.get("trial")) == (exercise, *at)
        and "value" in event
    ]
    return any(judge_observation(value, reference[at], judge) is None for value in values)


def rendered(report: Report) -> None:
    """Show a report to a terminal, with and without colours; whatever is in it is made printable."""
    for plain in (True, False):
        console = report_console(plain=plain, color=not plain)
        with console.capture() as capture:
            render_report(console, report, file_paths={}, next_commands=(), glyphs=glyphs_for("utf-8"), plain=plain)
        assert "\x1b[2J" not in capture.get()


WHERE = {"exercise": tiny.FIRST, "check": "values", "trial": 0}
STEP = ["mul", [0], [], [2], "float32", False, [0, 1], None]
TRACE = {
    "event": "traced",
    "files": [tiny.FILES[0]],
    "places": [[0, "f", 3, 3, 4, 9]],
    "steps": [STEP],
    "results": [0],
    "prints": Array("float64", (1, WIDTH), bytes(8 * WIDTH)),
}

FORGED: Mapping[str, Event] = {
    "a place that is not there": {**TRACE, "steps": [["mul", [7], *STEP[2:]]]},
    "a file that is not there": {**TRACE, "places": [[7, "f", 3, 3, 4, 9]]},
    "an array of too many elements": {
        "event": "observed",
        "value": Array("float32", (1 << 40, 1 << 40, 0), b""),
        "seconds": 0.0,
    },
}


@pytest.mark.parametrize("forged", FORGED)
def test_an_answer_that_once_was_too_much_for_the_judge_is_the_students_error(
    recordings: Recordings, judge: Grader, forged: str
) -> None:
    begin: Event = {"event": "begin", **WHERE}
    sent = Script([([begin, {**WHERE, **FORGED[forged]}], End("exit", 0))], surveys=recordings.surveys)
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, sent)
        report = judge.grade(tiny.submitted(), runner=fuzzing.scripted_runner(tiny.SUITE, SEED))
    assert tiny.check_of(report, tiny.FIRST, "values").status == "error"


def test_an_end_counts_without_its_beginning_but_not_in_a_careful_run(recordings: Recordings, judge: Grader) -> None:
    ends = [
        event for event in recordings.logs[0] if event.get("event") == "observed" and event["exercise"] == tiny.FIRST
    ]
    values = [event for event in ends if event["check"] == "values"]
    careful = [event for event in ends if event["check"] != "values"]
    sent = Script([(values, End("exit", 1)), (careful, End("exit", 1))], surveys=recordings.surveys)
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, sent)
        report = judge.grade(tiny.submitted(), runner=fuzzing.scripted_runner(tiny.SUITE, SEED))
    first = tiny.result_of(report, tiny.FIRST)
    assert {check.id for check in first.checks if check.status == "pass"} == {"values"}


def test_an_end_counts_nothing_where_the_syntax_of_the_file_is_not_known(recordings: Recordings, judge: Grader) -> None:
    start: list[Event] = [{"event": "ready", "torch": "2"}, {"event": "load", "exercise": tiny.FIRST}]
    ends = [
        event for event in recordings.logs[0] if event.get("event") == "observed" and event["exercise"] == tiny.FIRST
    ]
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, Script([([*start, *ends], End("exit", 1))]))
        report = judge.grade(tiny.submitted(), runner=fuzzing.scripted_runner(tiny.SUITE, SEED))
    assert tiny.result_of(report, tiny.FIRST).score == 0
