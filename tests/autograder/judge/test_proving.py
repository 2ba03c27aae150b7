"""The search for the line that decides a mistake: what proves one, what only makes it likely, and when it ends."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_key.model import AnswerKey
from autograder.checks import Same
from autograder.checks.trials import Key
from autograder.diagnosis.diagnosis import Diagnosis, Location
from autograder.diagnosis.judgement import Judgement, Trials, Verdict
from autograder.edits.repairs import Edit
from autograder.judge.grader import Grader
from autograder.judge.proving import (
    Budget,
    Hung,
    Proof,
    Search,
    can_be_proved,
    plain_text,
    suspected_lines,
    with_proofs,
)
from autograder.messages.locations import Divergence, State, decides
from autograder.messages.statuses import NothingRead
from autograder.report.location import PROVED, location_of
from autograder.results import ExerciseResult, Place, Report, Status
from autograder.runner.outcomes import Survey
from autograder.runner.runner import Runner
from tests.support import tiny

SOURCE = "one\ntwo\nthree\nfour\n"
EXERCISE = tiny.SUITE.exercises[0]
CHECK = tiny.SUITE.checks[EXERCISE.id][0]


def checks(*statuses: Status, bonus: Collection[int] = ()) -> Judgement:
    """Return a judgement on checks called a, b and so on; those that do not pass fail in one trial of two."""
    verdicts = [
        Verdict(
            replace(CHECK, id="abcdef"[at], trials=2, judge=Same(), bonus=at in bonus),
            status,
            0,
            0,
            None if status == "pass" else Diagnosis("pattern", NothingRead(), place=Place(EXERCISE.file, at + 1)),
        )
        for at, status in enumerate(statuses)
    ]
    failing = {(verdict.check.id, 1) for verdict in verdicts if verdict.status != "pass"}
    survey = Survey({"f": (1, 2), "g": (3, 4)}, (), (), (), ())
    trials = Trials({}, failing, AnswerKey({}, ()), lambda *_: {}, SOURCE.encode(), survey)
    return Judgement(EXERCISE, tuple(verdicts), trials)


def edit(word: str, to: str) -> Edit:
    start = SOURCE.index(word)
    return Edit(SOURCE[:start].count("\n") + 1, start, start + len(word), to)


def mends(**checks_of: str) -> Callable[[str, Sequence[Key]], Collection[Key]]:
    """Return a run in which a check passes if its words are in the program; one without words always passes."""

    def run(source: str, keys: Sequence[Key]) -> Collection[Key]:
        return [key for key in keys if all(word in source for word in checks_of.get(key[0], "").split())]

    return run


def proofs(judgement: Judgement, run: Callable[[str, Sequence[Key]], Collection[Key]], *edits: Edit) -> list[Proof]:
    return Search(SOURCE, judgement, run, 60).proofs(edits)


def test_an_edit_after_which_every_check_passes_proves_its_line() -> None:
    found = proofs(checks("pass", "fail", "fail"), mends(b="TWO", c="TWO"), edit("one", "ONE"), edit("two", "TWO"))
    assert found == [Proof(2, frozenset("bc"), is_whole=True)]


def test_an_edit_that_breaks_another_check_proves_nothing() -> None:
    assert proofs(checks("pass", "fail"), mends(a="one", b="ONE"), edit("one", "ONE")) == []


def test_a_check_counts_as_mended_only_if_all_its_trials_pass() -> None:
    def run(source: str, keys: Sequence[Key]) -> Collection[Key]:
        return [key for key in keys if key != ("a", 0)] if "ONE" in source else []

    assert proofs(checks("fail"), run, edit("one", "ONE")) == []


def test_two_mistakes_are_proved_by_two_edits() -> None:
    judgement = checks("fail", "pass", "fail")
    found = proofs(judgement, mends(a="ONE", c="THREE"), edit("one", "ONE"), edit("two", "TWO"), edit("three", "THREE"))
    assert found == [Proof(1, frozenset("a"), is_whole=True), Proof(3, frozenset("c"), is_whole=True)]


def test_an_edit_that_mends_several_checks_and_not_all_makes_its_line_likely() -> None:
    judgement = checks("fail", "fail", "fail")
    assert proofs(judgement, mends(a="ONE", b="ONE", c="no edit"), edit("one", "ONE")) == [
        Proof(1, frozenset("ab"), is_whole=False)
    ]
    assert proofs(judgement, mends(a="ONE", b="no", c="no"), edit("one", "ONE")) == []


def test_two_lines_that_mend_the_same_part_are_both_doubtful() -> None:
    run = mends(c="no edit")

    def either(source: str, keys: Sequence[Key]) -> Collection[Key]:
        return [key for key in run(source, keys) if "ONE" in source or "TWO" in source]

    assert proofs(checks("fail", "fail", "fail"), either, edit("one", "ONE"), edit("two", "TWO")) == []


def test_a_bonus_that_fails_is_no_hindrance() -> None:
    found = proofs(checks("fail", "fail", bonus=(1,)), mends(a="ONE", b="no edit"), edit("one", "ONE"))
    assert found == [Proof(1, frozenset("a"), is_whole=True)]


def test_an_edit_that_hangs_ends_the_search() -> None:
    def run(source: str, keys: Sequence[Key]) -> Collection[Key]:
        if "ONE" in source:
            raise Hung
        return keys

    assert proofs(checks("fail"), run, edit("one", "ONE"), edit("two", "TWO")) == []


def test_no_edit_is_tried_when_the_time_is_over() -> None:
    assert Search(SOURCE, checks("fail"), mends(), -1).proofs([edit("one", "ONE")]) == []


@pytest.mark.parametrize("status", ["waits", "not_started", "timeout", "memory", "grader_error"])
def test_what_does_not_run_to_its_end_is_not_searched(status: Status) -> None:
    assert can_be_proved(checks("pass", "fail"), {})
    assert not can_be_proved(checks("fail", status), {})
    assert not can_be_proved(checks("pass"), {})


def test_a_statement_that_is_known_needs_no_proof() -> None:
    place = Place(EXERCISE.file, 3)
    assert not can_be_proved(checks("fail"), {"a": Location(place)})
    assert can_be_proved(checks("fail"), {"a": Location(place, DIVERGENCE)})


DIVERGENCE = Divergence(Place(EXERCISE.file, 3), State.UNKNOWN, None, (), certain=False)


def test_the_first_failures_line_is_suspected_first() -> None:
    judgement = checks("pass", "fail", "fail")
    assert suspected_lines(judgement, {"b": Location(Place(EXERCISE.file, 4))}) == [4, 2, 3]
    assert suspected_lines(judgement, {"b": Location(Place("another.py", 4))}) == [2, 3]


def test_a_proved_line_replaces_one_that_was_likely_and_keeps_what_is_known_of_its_own() -> None:
    likely, known = Location(DIVERGENCE.place, DIVERGENCE), Location(Place(EXERCISE.file, 4, "g"))
    judgement = checks("fail", "fail", "fail")
    found = with_proofs(judgement, {"a": likely, "b": likely, "c": known}, [Proof(2, frozenset("abc"), True)])
    assert found["a"] == Location(Place(EXERCISE.file, 2, "f"), proved=True)
    assert found["c"] == known
    assert with_proofs(judgement, {"a": likely}, [Proof(3, frozenset("a"), True)])["a"] == replace(likely, proved=True)
    assert with_proofs(judgement, {"a": likely}, [Proof(2, frozenset("a"), False)])["a"] == likely
    assert with_proofs(judgement, {}, [Proof(2, frozenset("a"), False)])["a"].is_likely


def test_the_text_that_is_edited_has_the_lines_of_the_file() -> None:
    assert plain_text(b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"
    with pytest.raises(UnicodeDecodeError):
        plain_text(b"\xff")


# With real workers: a mistake that no misconception of the course has.

LAST = "    return y / (count + 1)"
WRONG = tiny.mean_with(f"y = x.cumsum(dim=-1)\n{LAST}")


def graded(course: Path, source: str, budget: Budget | None) -> tuple[list[Report], ExerciseResult]:
    verdicts: list[Report] = []
    suite = tiny.suite_at(course)
    with Grader(suite, seed=1, evidence=True, budget=budget) as grader, Runner(suite, seed=1, shared=True) as runner:
        report = grader.report(tiny.submitted(source), [EXERCISE], runner, verdicts.append)
    return verdicts, report.exercises[0]


@pytest.mark.worker
def test_the_verdict_comes_first_and_the_proof_changes_nothing_of_it_but_the_place(course: Path) -> None:
    [verdict], result = graded(course, WRONG, Budget(300, 60))
    before = verdict.exercises[0]
    assert [check.status for check in before.checks] == [check.status for check in result.checks]
    assert (before.score, before.status) == (result.score, result.status)
    failure = result.first_failure
    assert failure is not None
    assert failure.finding is not None
    assert failure.finding.proved
    place = failure.finding.place
    assert place is not None
    assert place.line == WRONG.split("\n").index(LAST) + 1
    location = location_of(failure.status, failure.finding)
    assert location is not None
    assert location.circumstance == PROVED
    assert decides(place) == f"Line {place.line} alone decides this check: one change there makes it pass."


@pytest.mark.worker
def test_without_a_budget_nothing_is_searched(course: Path) -> None:
    verdicts, result = graded(course, WRONG, None)
    assert verdicts == []
    assert result.first_failure is not None
    assert result.first_failure.finding is not None
    assert not result.first_failure.finding.proved
