"""Which misconception explains a failed check, alone or beside another mistake, and when none is named."""

import ast
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from autograder.answer_key import AnswerKey, Failures, Misconception
from autograder.answer_key.catalogue import Condition
from autograder.checks import Key, Raises, Same
from autograder.comparison import Expected, sketch
from autograder.diagnosis import Trials
from autograder.judge.matching import RICH, agreements, contradicts, name
from autograder.protocol import Array, name_hash, words_of
from autograder.results import Certainty, Place
from autograder.runner import Fault, Observed, Outcome, Survey
from tests.support import tiny

CHECKS = {
    id_: replace(tiny.SUITE.checks[tiny.FIRST][0], id=id_, trials=1, judge=Same(), of=None) for id_ in "abcdefghijkl"
}
MANY, FEW = RICH, RICH - 1
JUDGE = Same()


def numbers(value: float, count: int, dtype: str = "float32") -> Observed:
    """Return so many equal numbers, as a worker would send them."""
    data = np.full(count, value, np.dtype(dtype).newbyteorder("<"))
    return Observed(Array(dtype, (count,), data.tobytes(), "cpu"))


def fault(message: str, kind: str = "other", type_: str = "RuntimeError") -> Fault:
    return Fault(type_, (type_, "Exception"), message, kind, ())  # type: ignore[arg-type]


RIGHT = {"many": numbers(0, MANY), "few": numbers(0, FEW), "whole": numbers(0, MANY, "int64")}
SHAPES = fault("The size of tensor a (4) must match the size of tensor b (5)")
TYPICAL = fault("value cannot be converted without overflow")
REFUSED = fault("Linear has no parameter bias", "structure")


def named(
    size: str,
    yours: Mapping[str, Outcome],
    *known: Mapping[str, Outcome],
    marks: str = "",
    any_exception: bool = False,
) -> dict[str, str]:
    """Return the number of the misconception that each failed check gets; `yours` and `known` are what fails."""
    right = RIGHT[size]
    expected = {(id_, 0): Expected(right.value, right.value) for id_ in CHECKS}
    entries = tuple(
        Misconception(
            str(number),
            "",
            "",
            "",
            (),
            {(id_, 0): sketch(outcome, JUDGE, expected[id_, 0]) for id_, outcome in outcomes.items()},
            ("mark",),
            any_exception=any_exception,
        )
        for number, outcomes in enumerate(known)
    )
    key = AnswerKey(expected, entries)
    outcomes: dict[Key, Outcome] = {(id_, 0): yours.get(id_, right) for id_ in CHECKS}
    failing = {(id_, 0) for id_ in yours}
    survey = Survey(statements=((marks, 1),))
    trials = Trials(outcomes, failing, key, lambda *_: {}, b"", survey)
    found = agreements(trials, CHECKS, Failures(frozenset()))
    names = ((id_, name(CHECKS[id_], trials, found)) for id_ in yours)
    return {id_: match.entry.id for id_, match in names if match is not None}


Code = tuple[Survey, bytes]
"""What the syntax of a program says, and its text."""


def code(text: str = "", *marks: str) -> Code:
    return Survey(statements=tuple((mark, 1) for mark in marks), words=words_of(ast.parse(text))), text.encode()


def claim(
    yours: Mapping[str, Outcome], known: Misconception, own: Code, size: str = "many", *others: Misconception
) -> Certainty | None:
    """Return how sure the name of a misconception is for check a; None if it is not given."""
    expected = {(id_, 0): Expected(RIGHT[size].value, RIGHT[size].value) for id_ in CHECKS}
    sketches = {(id_, 0): sketch(outcome, JUDGE, expected[id_, 0]) for id_, outcome in yours.items()}
    key = AnswerKey(expected, (replace(known, outcomes=sketches), *others))
    outcomes: dict[Key, Outcome] = {(id_, 0): yours.get(id_, RIGHT[size]) for id_ in CHECKS}
    failing = {(id_, 0) for id_ in yours}
    survey, source = own
    trials = Trials(outcomes, failing, key, lambda *_: {}, source, survey)
    found = agreements(trials, CHECKS, Failures(frozenset()))
    match = name(replace(CHECKS["a"], of="attend"), trials, found)
    return match.certainty if match is not None else None


TOP_P = Misconception(
    "id", "", "", "", (), {}, ("mark",), (name_hash("attend"),), condition=Condition(frozenset([name_hash("top_p")]))
)


def test_a_name_is_none_if_the_code_contradicts_it() -> None:
    assert claim(values(a=1), TOP_P, code("def attend(top_p):\n    return top_p\n")) is Certainty.SHOWN
    assert claim(values(a=1), TOP_P, code("def attend(top_p):\n    return 1\n")) is None
    helper = code("def cut(top_p):\n    return top_p\n\n\ndef attend(x):\n    return cut(x)\n")
    assert claim(values(a=1), TOP_P, helper) is Certainty.SHOWN, "a function that it calls is its own code"


def test_another_function_of_the_contract_is_no_helper() -> None:
    both = code("def block(top_p):\n    return top_p\n\n\ndef attend(x):\n    return block(x)\n")
    without = replace(TOP_P, condition=Condition(lacks=frozenset([name_hash("top_p")])))
    assert claim(values(a=1), without, both) is None
    other = Misconception("other", "", "", "", (), {}, (), (name_hash("block"),))
    assert claim(values(a=1), without, both, "many", other) is Certainty.SHOWN


def test_a_name_about_another_function_is_none() -> None:
    elsewhere = code("def attend():\n    return 1\n\n\ndef by_hand(top_p):\n    return top_p\n")
    of_other = replace(TOP_P, owners=(name_hash("by_hand"),))
    assert claim(values(a=1), of_other, elsewhere) is None
    assert claim(values(a=1), TOP_P, code("def attend(top_p):\n    return top_p\n", "mark")) is Certainty.SHOWN


def test_equal_results_alone_show_a_name_only_if_they_are_many_and_the_whole_program() -> None:
    own = code("def attend(top_p):\n    return top_p\n")
    assert claim(few(a=1), TOP_P, own, "few") is Certainty.ALIKE
    assert claim(few(a=1), replace(TOP_P, stated="words"), own, "few") is Certainty.SHOWN
    assert claim(few(a=1), replace(TOP_P, stated="result"), own, "few") is Certainty.SHOWN
    assert claim({"a": TYPICAL}, TOP_P, own) is Certainty.ALIKE
    assert claim({"a": TYPICAL}, TOP_P, code("def attend(top_p):\n    return top_p\n", "mark")) is Certainty.SHOWN


def test_a_refusal_needs_a_raise() -> None:
    refused = replace(TOP_P, any_exception=True, condition=Condition(frozenset([name_hash("raise")])))
    raised = replace(TYPICAL, frames=(Place("ex01.py", 3, "attend"),))
    text = "def attend(x):\n    if not x:\n        {}\n    raise ValueError\n"
    assert claim({"a": raised}, refused, code(text.format("raise ValueError"))) is not None
    assert claim({"a": raised}, refused, code(text.format("x = 1 / x"))) is None


def test_a_wrong_exception_that_the_code_names_is_raised_on_purpose() -> None:
    check = replace(CHECKS["a"], of="attend", judge=Raises("ValueError"))
    own = code("def attend(top_p):\n    raise RuntimeError(top_p)\n")
    raising = Condition(frozenset([name_hash("top_p"), name_hash("RuntimeError")]))

    def is_false(type_: str, own: Code = own, known: Misconception = TOP_P) -> bool:
        outcomes: dict[Key, Outcome] = {("a", 0): Observed({"raised": [type_, "Exception"]})}
        survey, source = own
        trials = Trials(outcomes, (), AnswerKey({}, (known,)), lambda *_: {}, source, survey)
        return contradicts(known, check, trials)

    assert is_false("RuntimeError")
    assert not is_false("ValueError")
    assert not is_false("RuntimeError", code("def attend(top_p):\n    return top_p + 1\n"))
    assert not is_false("RuntimeError", known=replace(TOP_P, condition=raising))


def values(**by_check: float) -> dict[str, Outcome]:
    return {id_: numbers(value, MANY) for id_, value in by_check.items()}


def few(**by_check: float) -> dict[str, Outcome]:
    return {id_: numbers(value, FEW) for id_, value in by_check.items()}


def test_a_misconception_that_gives_all_of_a_program_is_named() -> None:
    assert named("few", few(a=1), few(a=1), few(a=2)) == {"a": "0"}


def test_many_wrong_numbers_are_named_beside_another_mistake() -> None:
    assert named("many", values(a=1, b=2), values(a=1), values(b=3)) == {"a": "0"}
    assert named("many", values(a=1, b=2), values(a=1), values(b=2)) == {"a": "0", "b": "1"}


def test_a_misconception_that_fails_where_the_program_passes_is_not_the_one() -> None:
    assert named("many", values(a=1), values(a=1, b=2)) == {}
    assert named("many", values(a=1, c=9), values(a=1, b=2), values(a=1)) == {"a": "1"}


def test_one_check_that_looks_like_a_misconception_is_weak_evidence_if_most_checks_fail() -> None:
    others = values(**dict.fromkeys("cdefghijk", 9.0))
    assert named("many", {**values(a=1), **others}, values(a=1)) == {}
    assert named("many", {**values(a=1), **others}, values(a=1), marks="mark") == {"a": "0"}
    assert named("many", {**values(a=1, b=1), **others}, values(a=1, b=1)) == {"a": "0", "b": "0"}


def test_the_misconception_whose_every_failure_is_seen_is_preferred() -> None:
    assert named("many", values(a=1, b=2, c=9), values(a=1, b=7), values(a=1, b=2)) == {"a": "1", "b": "1"}


def test_two_that_explain_equally_well_are_named_neither() -> None:
    assert named("many", values(a=1, b=9), values(a=1), values(a=1)) == {}


def test_few_wrong_numbers_need_a_second_check_beside_another_mistake() -> None:
    assert named("few", few(a=1, c=9), few(a=1)) == {}
    assert named("few", few(a=1, b=2, c=9), few(a=1, b=2)) == {"a": "0", "b": "0"}


def test_many_wrong_whole_numbers_are_named_if_all_checks_fail_that_the_misconception_fails() -> None:
    whole = {id_: numbers(value, MANY, "int64") for id_, value in (("a", 1), ("b", 2), ("c", 9))}
    only = {id_: whole[id_] for id_ in "a"}
    assert named("whole", {id_: whole[id_] for id_ in "ac"}, only) == {"a": "0"}
    assert named("whole", {id_: whole[id_] for id_ in "ac"}, {id_: whole[id_] for id_ in "ab"}) == {}
    assert named("whole", {**whole, "b": numbers(8, MANY, "int64")}, {id_: whole[id_] for id_ in "ab"}) == {"a": "0"}


@pytest.mark.parametrize(
    ("raised", "is_named"), [(TYPICAL, True), (SHAPES, False), (REFUSED, False)], ids=["typical", "shapes", "refused"]
)
def test_one_exception_beside_another_mistake_is_named_if_it_has_no_sizes(raised: Fault, is_named: bool) -> None:
    assert named("many", {"a": raised, "b": numbers(9, MANY)}, {"a": raised}) == ({"a": "0"} if is_named else {})
    assert named("many", {"a": raised}, {"a": raised}) == {"a": "0"}


def test_an_exception_about_shapes_is_named_if_two_checks_raise_it() -> None:
    yours = {"a": SHAPES, "b": SHAPES, "c": numbers(9, MANY)}
    assert named("many", yours, {"a": SHAPES, "b": SHAPES}) == {"a": "0", "b": "0"}
    assert named("many", {"a": REFUSED, "b": REFUSED, "c": numbers(9, MANY)}, {"a": REFUSED, "b": REFUSED}) == {}


def test_what_has_many_causes_is_named_if_the_file_has_the_statements_of_the_misconception() -> None:
    assert named("few", few(a=1, c=9), few(a=1), marks="mark") == {"a": "0"}
    assert named("many", {"a": SHAPES, "c": numbers(9, MANY)}, {"a": SHAPES}, marks="mark") == {"a": "0"}
    assert named("few", few(a=1, c=9), few(a=2), marks="mark") == {}


def test_an_exception_in_other_words_is_named_by_what_else_the_misconception_does() -> None:
    other = fault("The expanded size of the tensor (4) must match the existing size (5)")
    known = {**values(a=1, b=1), "c": SHAPES}
    assert named("many", {**values(a=1, b=1), "c": other}, known)["c"] == "0"
    assert "c" not in named("many", {**values(a=1, b=2), "c": other}, known)  # one check alone may be alike by chance
    assert "c" not in named("many", {**values(a=1, b=1), "c": REFUSED}, known)


@pytest.mark.parametrize("other", [fault("another"), fault("another", type_="TypeError")])
def test_any_exception_in_the_same_checks_is_named_if_the_misconception_says_so(other: Fault) -> None:
    known = {"a": TYPICAL, "b": SHAPES}
    assert named("few", {"a": other, "b": other}, known) == {}
    assert named("few", {"a": other, "b": other}, known, any_exception=True) == {"a": "0", "b": "0"}
    assert named("few", {"a": other}, known, any_exception=True) == {}
    assert named("few", {"a": other, "b": other, "c": other}, known, any_exception=True) == {}
    assert named("few", {"a": other, "b": numbers(1, FEW)}, known, any_exception=True) == {}
    assert named("few", {"a": other, "b": REFUSED}, known, any_exception=True) == {}


def test_any_exception_is_named_beside_other_mistakes_if_nothing_else_raises_one() -> None:
    known = {"a": TYPICAL, "b": SHAPES}
    raised = {"a": fault("another"), "b": fault("another")}
    yours = {**raised, "c": numbers(9, MANY)}
    assert named("few", yours, known, any_exception=True) == {"a": "0", "b": "0"}
    assert named("few", yours, known) == {}
    assert named("few", {**yours, "d": fault("another")}, known, any_exception=True) == {}
