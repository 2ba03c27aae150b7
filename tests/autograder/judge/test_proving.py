"""The search for the line that decides a mistake: what proves one, what only makes it likely, and when it ends."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.answer_key import AnswerKey, Misconception
from autograder.checks import Key, Same
from autograder.diagnosis import NOTHING_READ, Diagnosis, Judgement, Location, Trials, Verdict, decides
from autograder.diagnosis.exceptions import MORE
from autograder.diagnosis.judgement import Divergence, StepState
from autograder.edits import Clues, Edit
from autograder.judge import Budget, Grader, result_of
from autograder.judge.proving import (
    EditSearch,
    Hung,
    Proof,
    can_be_proved,
    clues_of,
    plain_text,
    suspected_lines,
    with_proofs,
)
from autograder.protocol import Function
from autograder.report.failures import PROVED, location_of
from autograder.results import Certainty, ExerciseResult, Fact, Place, Report, Status
from autograder.runner import Runner, Survey
from tests.support import tiny

SOURCE = "one\ntwo\nthree\nfour\n"
EXERCISE = tiny.SUITE.exercises[0]
SHOWN, LIKELY = Certainty.SHOWN, Certainty.LIKELY
CHECK = tiny.SUITE.checks[EXERCISE.id][0]


def checks(*statuses: Status, bonus: Collection[int] = ()) -> Judgement:
    """Return a judgement on checks called a, b and so on; those that do not pass fail in one trial of two."""
    verdicts = [
        Verdict(
            replace(CHECK, id="abcdef"[at], trials=2, judge=Same(), bonus=at in bonus),
            status,
            0,
            0,
            None if status == "pass" else Diagnosis("pattern", NOTHING_READ, place=Place(EXERCISE.file, at + 1)),
        )
        for at, status in enumerate(statuses)
    ]
    failing = {(verdict.check.id, 1) for verdict in verdicts if verdict.status != "pass"}
    functions, statements = (Function("f", 1, 2, 2, 0), Function("g", 3, 4, 4, 0)), (("first", 1), ("third", 3))
    survey = Survey({}, (), statements, functions=functions)
    trials = Trials({}, failing, AnswerKey({}, ()), lambda *_: {}, SOURCE.encode(), survey)
    return Judgement(EXERCISE, tuple(verdicts), trials)


def edit(word: str, to: str, source: str = SOURCE) -> Edit:
    start = source.index(word)
    return Edit(source[:start].count("\n") + 1, start, start + len(word), to)


Run = Callable[[str, Sequence[Key]], Collection[Key]]


def mends(**checks_of: str) -> Run:
    """Return a run in which a check passes if its words are in the program; one without words always passes."""

    def run(source: str, keys: Sequence[Key]) -> Collection[Key]:
        return [key for key in keys if all(word in source for word in checks_of.get(key[0], "").split())]

    return run


class Search(EditSearch):
    """Edits of a program that is never run; the edits of an edited program are the same, where they still fit."""

    def __init__(
        self,
        judgement: Judgement,
        run: Run,
        edits: Sequence[Edit],
        seconds: float,
        known: Mapping[str, Misconception] | None = None,
        locations: Mapping[str, Location] | None = None,
    ) -> None:
        marking: Any = None
        super().__init__(SOURCE, judgement, marking, Budget(len(edits), seconds))
        self.run, self.edits, self.known, self.found = run, edits, known or {}, locations or {}

    def passing(self, source: str, keys: Sequence[Key]) -> Collection[Key]:
        return self.run(source, keys)

    def repairs(self, source: str, judgement: Judgement) -> Sequence[Edit]:
        if source == SOURCE:
            return self.edits
        words = ((SOURCE[change.start : change.end], change.text) for change in self.edits)
        return [edit(word, to, source) for word, to in words if word in source]

    def judged(self, source: str) -> Judgement:
        verdicts = self.judgement.verdicts
        right = [self.run(source, [(verdict.check.id, trial) for trial in range(2)]) for verdict in verdicts]
        judgement = checks(*("pass" if len(passing) == 2 else "fail" for passing in right))
        entry = next((entry for words, entry in self.known.items() if words in source), None)
        if entry is not None:
            found = (
                replace(verdict, diagnosis=replace(verdict.diagnosis, misconception=entry, certainty=Certainty.ALIKE))
                if verdict.diagnosis is not None
                else verdict
                for verdict in judgement.verdicts
            )
            judgement = replace(judgement, verdicts=tuple(found))
        return replace(judgement, locations=self.found)


def proofs(judgement: Judgement, run: Run, *edits: Edit, seconds: float = 60, **known: Any) -> list[Proof]:
    return Search(judgement, run, edits, seconds, **known).proofs()


def test_an_edit_after_which_every_check_passes_proves_its_line() -> None:
    found = proofs(checks("pass", "fail", "fail"), mends(b="TWO", c="TWO"), edit("one", "ONE"), edit("two", "TWO"))
    assert found == [Proof(2, frozenset("bc"), SHOWN)]


def test_an_edit_that_breaks_another_check_proves_nothing() -> None:
    assert proofs(checks("pass", "fail"), mends(a="one", b="ONE"), edit("one", "ONE")) == []


def test_a_check_counts_as_mended_only_if_all_its_trials_pass() -> None:
    def run(source: str, keys: Sequence[Key]) -> Collection[Key]:
        return [key for key in keys if key != ("a", 0)] if "ONE" in source else []

    assert proofs(checks("fail"), run, edit("one", "ONE")) == []


def test_two_mistakes_are_proved_by_two_edits() -> None:
    judgement = checks("fail", "pass", "fail")
    found = proofs(judgement, mends(a="ONE", c="THREE"), edit("one", "ONE"), edit("two", "TWO"), edit("three", "THREE"))
    assert found == [Proof(1, frozenset("a"), SHOWN), Proof(3, frozenset("c"), SHOWN)]


def misconception(id_: str) -> Misconception:
    """Return a misconception with one statement, whose hash is the id."""
    return Misconception(id_, f"the name of {id_}", "", "", (), {}, marks=(id_,))


def named(judgement: Judgement, *explained: str) -> Judgement:
    """Return the judgement with a known mistake behind these checks."""
    verdicts = (
        replace(verdict, diagnosis=replace(verdict.diagnosis, misconception=misconception("known")))
        if verdict.diagnosis is not None and verdict.check.id in explained
        else verdict
        for verdict in judgement.verdicts
    )
    return replace(judgement, verdicts=tuple(verdicts))


def test_each_of_two_mistakes_gets_the_name_of_what_is_wrong_without_the_other() -> None:
    run = mends(a="ONE", c="THREE")
    names = {"ONE": misconception("third"), "THREE": misconception("first")}
    found = proofs(checks("fail", "pass", "fail"), run, edit("one", "ONE"), edit("three", "THREE"), known=names)
    assert [(proof.line, proof.known and proof.known.id) for proof in found] == [(1, "first"), (3, "third")]


def test_a_mistake_that_no_edit_mends_is_named_once_the_other_one_is_mended() -> None:
    run, names = mends(a="ONE", c="no edit"), {"ONE": misconception("third")}
    first = Proof(1, frozenset("a"), SHOWN)
    assert proofs(checks("fail", "pass", "fail"), run, edit("one", "ONE"), known=names) == [first]
    places = {"c": Location(Place(EXERCISE.file, 4))}
    found = proofs(checks("fail", "pass", "fail"), run, edit("one", "ONE\nMORE"), known=names, locations=places)
    assert found == [first, Proof(3, frozenset("c"), LIKELY, known=names["ONE"])], "a line less without the edit"


def test_a_mistake_that_only_the_edited_program_has_is_not_named() -> None:
    edits, names = (
        (edit("one", "ONE"), edit("three", "THREE")),
        {"ONE": misconception("made"), "THREE": misconception("made")},
    )
    found = proofs(checks("fail", "pass", "fail"), mends(a="ONE", c="THREE"), *edits, known=names)
    assert [(proof.line, proof.certainty, proof.known) for proof in found] == [(1, SHOWN, None), (3, SHOWN, None)]
    assert proofs(checks("fail", "pass", "fail"), mends(a="ONE", c="no edit"), edits[0], known=names) == []


def test_an_edit_shows_a_name_only_if_that_mistake_explains_all_that_it_mends() -> None:
    judgement, proof = named(checks("fail", "fail"), "a", "b"), Proof(1, frozenset("ab"), SHOWN)
    known = judgement.verdicts[0].diagnosis
    assert known is not None
    both = replace(judgement, verdicts=tuple(replace(verdict, diagnosis=known) for verdict in judgement.verdicts))
    for of, shown in ((both, known.misconception), (named(checks("fail", "fail"), "a"), None)):
        assert with_proofs(of, [proof])["a"].first_mistake == shown
    assert with_proofs(both, [replace(proof, certainty=LIKELY)])["a"].first_mistake is None


def test_a_mistake_is_not_named_on_the_line_of_an_edit_that_mends_only_some_checks() -> None:
    places = {"c": Location(Place(EXERCISE.file, 1))}
    names = {"ONE": misconception("third")}
    found = proofs(
        checks("fail", "pass", "fail"), mends(a="ONE", c="no"), edit("one", "ONE"), known=names, locations=places
    )
    assert found == []


def test_two_edits_of_one_line_prove_it_and_name_nothing() -> None:
    names = {"O": misconception("third"), "E": misconception("first")}
    found = proofs(checks("fail", "fail"), mends(a="O", b="E"), edit("o", "O"), edit("e", "E"), known=names)
    assert found == [Proof(1, frozenset("ab"), SHOWN)]


def test_lines_are_those_of_the_program_as_it_was_handed_in() -> None:
    found = proofs(checks("fail", "fail"), mends(a="ONE", b="THREE"), edit("one", "ONE\nMORE"), edit("three", "THREE"))
    assert [proof.line for proof in found] == [1, 3]


def test_an_edit_that_mends_several_checks_and_not_all_makes_its_line_likely() -> None:
    judgement = checks("fail", "fail", "fail")
    assert proofs(judgement, mends(a="ONE", b="ONE", c="no edit"), edit("one", "ONE")) == [
        Proof(1, frozenset("ab"), LIKELY)
    ]
    assert proofs(judgement, mends(a="ONE", b="no", c="no"), edit("one", "ONE")) == []


def test_an_edit_that_mends_one_check_makes_its_line_likely_if_a_known_mistake_explains_it() -> None:
    run = mends(a="ONE", b="no", c="no")
    assert proofs(named(checks("fail", "fail", "fail"), "a"), run, edit("one", "ONE")) == [
        Proof(1, frozenset("a"), LIKELY)
    ]


def test_where_two_mistakes_make_the_first_check_fail_the_others_are_tried() -> None:
    judgement = checks("fail", "fail", "fail")
    run = mends(a="ONE THREE", b="ONE", c="THREE")
    found = proofs(judgement, run, edit("two", "TWO"), edit("three", "THREE"), edit("one", "ONE"))
    assert {(proof.line, proof.certainty) for proof in found} == {(1, SHOWN), (3, SHOWN)}


def test_two_lines_that_mend_the_same_part_are_both_doubtful() -> None:
    run = mends(c="no edit")

    def either(source: str, keys: Sequence[Key]) -> Collection[Key]:
        return [key for key in run(source, keys) if "ONE" in source or "TWO" in source]

    assert proofs(checks("fail", "fail", "fail"), either, edit("one", "ONE"), edit("two", "TWO")) == []


def test_a_bonus_that_fails_is_no_hindrance() -> None:
    found = proofs(checks("fail", "fail", bonus=(1,)), mends(a="ONE", b="no edit"), edit("one", "ONE"))
    assert found == [Proof(1, frozenset("a"), SHOWN)]


def test_a_bonus_that_fails_alone_is_searched() -> None:
    found = proofs(checks("pass", "fail", bonus=(1,)), mends(b="ONE"), edit("one", "ONE"))
    assert found == [Proof(1, frozenset("b"), SHOWN)]


def test_an_edit_that_hangs_ends_the_search() -> None:
    def run(source: str, keys: Sequence[Key]) -> Collection[Key]:
        if "ONE" in source:
            raise Hung
        return keys

    assert proofs(checks("fail"), run, edit("one", "ONE"), edit("two", "TWO")) == []


def test_no_edit_is_tried_when_the_time_is_over() -> None:
    assert proofs(checks("fail"), mends(), edit("one", "ONE"), seconds=-1) == []


def test_a_part_that_is_not_written_yet_is_no_hindrance() -> None:
    judgement = checks("fail", "not_started")
    assert can_be_proved(judgement)
    found = proofs(judgement, mends(a="ONE", b="no edit"), edit("one", "ONE"))
    assert found == [Proof(1, frozenset("a"), SHOWN)]
    assert not can_be_proved(checks("pass", "not_started"))


@pytest.mark.parametrize("status", ["timeout", "memory", "grader_error"])
def test_what_does_not_run_to_its_end_is_not_searched(status: Status) -> None:
    assert can_be_proved(checks("pass", "fail"))
    assert not can_be_proved(checks("fail", status))
    assert not can_be_proved(checks("pass"))


def test_a_statement_that_is_known_needs_no_proof() -> None:
    place = Place(EXERCISE.file, 3)
    assert not can_be_proved(replace(checks("fail"), locations={"a": Location(place, certainty=Certainty.ALIKE)}))
    assert can_be_proved(replace(checks("fail"), locations={"a": Location(place, DIVERGENCE)}))


DIVERGENCE = Divergence(Place(EXERCISE.file, 3), StepState.UNKNOWN, None, (), is_unique=False)


def test_the_first_failures_line_is_suspected_first() -> None:
    judgement = checks("pass", "fail", "fail")
    assert suspected_lines(replace(judgement, locations={"b": Location(Place(EXERCISE.file, 4))})) == [4, 2, 3]
    assert suspected_lines(replace(judgement, locations={"b": Location(Place("another.py", 4))})) == [2, 3]


def test_where_no_exception_was_raised_the_conditions_of_those_in_the_function_are_suspected_first() -> None:
    judgement = checks("fail")
    [verdict], trials = judgement.verdicts, judgement.trials
    assert verdict.diagnosis is not None
    assert trials is not None
    source = "def f(x):\n    y = x\n    if y < 0:\n        raise ValueError\ndef g(x):\n    raise ValueError\n"
    functions = (Function("f", 1, 2, 4, 0), Function("g", 5, 6, 6, 0))
    found = []
    for of in ("f", None):
        silent = replace(verdict.diagnosis, fact=Fact("raises", "Your code raised nothing"))
        failed = replace(verdict, check=replace(verdict.check, of=of), diagnosis=silent)
        tried = replace(trials, source=source.encode(), survey=Survey({}, (), functions=functions))
        found.append(suspected_lines(replace(judgement, verdicts=(failed,), trials=tried)))
    assert found == [[3, 1], [3, 5, 1]]


def test_a_proved_line_replaces_one_that_was_likely_and_keeps_what_is_known_of_its_own() -> None:
    likely = Location(DIVERGENCE.place, DIVERGENCE)
    known = Location(Place(EXERCISE.file, 4, "g"), certainty=Certainty.ALIKE)
    judgement = checks("fail", "fail", "fail")
    located = replace(judgement, locations={"a": likely, "b": likely, "c": known})
    found = with_proofs(located, [Proof(2, frozenset("abc"), SHOWN)])
    assert found["a"] == Location(Place(EXERCISE.file, 2, "f"), certainty=SHOWN)
    assert found["c"] == known
    assert with_proofs(replace(judgement, locations={"a": likely}), [Proof(3, frozenset("a"), SHOWN)])["a"] == replace(
        likely, certainty=SHOWN
    )
    assert with_proofs(replace(judgement, locations={"a": likely}), [Proof(2, frozenset("a"), LIKELY)])["a"] == likely
    assert with_proofs(judgement, [Proof(2, frozenset("a"), LIKELY)])["a"].certainty is LIKELY
    known_there = replace(named(judgement, "a"), locations={"a": likely})
    assert with_proofs(known_there, [Proof(2, frozenset("a"), LIKELY)])["a"].place.line == 2


def test_a_proved_line_keeps_the_characters_that_the_diagnosis_marked() -> None:
    place = Place(EXERCISE.file, 2, "f", 4, 7)
    marked = placed(checks("fail"), place)
    assert with_proofs(marked, [Proof(2, frozenset("a"), SHOWN)])["a"].place == place
    assert with_proofs(marked, [Proof(3, frozenset("a"), SHOWN)])["a"].place == Place(EXERCISE.file, 3, "g")


def test_the_name_that_a_proof_gives_is_that_of_its_line() -> None:
    known = misconception("first")
    judgement = checks("fail", "fail")
    proof = Proof(2, frozenset("a"), SHOWN, known=known)
    locations = with_proofs(judgement, [proof])
    finding = result_of(replace(judgement, locations=locations)).checks[0].finding
    assert finding is not None
    assert (finding.id, finding.place and finding.place.line, finding.certainty) == ("first", 2, SHOWN)
    assert str(finding.detail).endswith(MORE)


def placed(judgement: Judgement, place: Place) -> Judgement:
    """Return a judgement whose first check failed at a place."""
    first, *others = judgement.verdicts
    assert first.diagnosis is not None
    diagnosis = replace(first.diagnosis, place=place)
    return replace(judgement, verdicts=(replace(first, diagnosis=diagnosis), *others))


def test_two_edits_do_not_replace_an_exception_by_a_mistake_on_another_line() -> None:
    judgement = placed(checks("error", "error"), Place(EXERCISE.file, 2, "f"))
    second = Proof(3, frozenset("a"), SHOWN, known=misconception("second"))
    for proofs in (
        [Proof(2, frozenset("b"), SHOWN), second],
        [second, Proof(2, frozenset("b"), SHOWN)],
    ):
        assert "a" not in with_proofs(judgement, proofs)


@pytest.mark.parametrize("lines", [(2, 3), (2, 2)])
def test_where_two_lines_are_proved_each_finding_says_that_there_is_one_more(lines: tuple[int, int]) -> None:
    judgement = placed(checks("error", "fail"), Place(EXERCISE.file, 2, "f"))
    proofs = [Proof(line, frozenset(check), SHOWN) for line, check in zip(lines, "ab", strict=True)]
    for check in result_of(replace(judgement, locations=with_proofs(judgement, proofs))).checks:
        assert check.finding is not None
        assert (MORE in f"{check.finding.message} {check.finding.detail}") == (lines == (2, 3))


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
    assert failure.finding.certainty is SHOWN
    place = failure.finding.place
    assert place is not None
    assert place.line == WRONG.split("\n").index(LAST) + 1
    location = location_of(failure.status, failure.finding)
    assert location is not None
    assert location.circumstance == PROVED
    assert decides(place) == f"One change at line {place.line} makes this check pass."


@pytest.mark.worker
def test_without_a_budget_nothing_is_searched(course: Path) -> None:
    verdicts, result = graded(course, WRONG, None)
    assert verdicts == []
    assert result.first_failure is not None
    assert result.first_failure.finding is not None
    assert result.first_failure.finding.certainty is not SHOWN


def test_the_fixes_of_named_mistakes_are_the_likely_ones() -> None:
    known = replace(misconception("m"), fix="+1a2b")
    judgement = checks("pass", "fail", "fail")
    assert clues_of(judgement) == Clues(of=judgement.verdicts[0].check.of)
    named = tuple(
        replace(verdict, diagnosis=replace(verdict.diagnosis, misconception=known)) if verdict.diagnosis else verdict
        for verdict in judgement.verdicts
    )
    assert clues_of(replace(judgement, verdicts=named)) == Clues(("+1a2b",), True, judgement.verdicts[0].check.of)
