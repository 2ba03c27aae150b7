"""Observations of byte strings: their bytes, not their type alone."""

import pytest

from autograder.answer_key.keys import observation_problem
from autograder.answer_key.records import rounded
from autograder.authoring.empty_programs import Emptying
from autograder.checks import Same
from autograder.comparison import Expected, judge_observation
from autograder.comparison.compare import described
from autograder.protocol import INT_BITS, OBSERVATION_KEY, OBSERVATION_TEXT, Opaque
from autograder.protocol.frames import decode, encode
from autograder.runner.outcomes import as_observation
from autograder.worker.session import observe


class Liar(bytes):
    """Bytes that give other ones when they are asked."""

    def __getitem__(self, _: object) -> bytes:  # type: ignore[override]
        return b"other"

    def __bytes__(self) -> bytes:
        return b"other"


def test_bytes_are_observed_and_sent_as_they_are() -> None:
    for value in (b"", b"\x00\xff", bytearray(b"ab"), Liar(b"ab")):
        seen = observe({"file": [value]})
        assert type(seen["file"][0]) is bytes
        assert seen == {"file": [bytes(memoryview(value))]} == as_observation(decode(*encode(seen)))


def test_long_bytes_are_cut_and_longer_ones_are_refused() -> None:
    assert len(observe(bytes(OBSERVATION_TEXT + 1))) == OBSERVATION_TEXT
    with pytest.raises(ValueError, match="bytes beyond the limit"):
        as_observation(bytes(OBSERVATION_TEXT + 1))


def test_no_value_of_a_dict_is_lost_because_two_keys_have_one_name() -> None:
    assert observe({1: "a", "2": "b"}) == {"1": "a", "2": "b"}
    assert observe({1: "a", "1": "b"}) == Opaque("dict with two keys of one name")


@pytest.mark.parametrize(
    "value",
    ["x" * OBSERVATION_TEXT, {"file": [bytes(2 * OBSERVATION_TEXT)]}, {"k" * OBSERVATION_KEY: 1}, [1 << INT_BITS]],
)
def test_what_a_worker_would_cut_is_no_observation_of_a_solution(value: object) -> None:
    """Two texts that differ in what was cut would count as equal."""
    assert "which cannot be compared; return" in observation_problem([observe(value)])


def test_a_text_of_a_solution_is_shorter_than_any_that_was_cut() -> None:
    assert observation_problem([observe("x" * (OBSERVATION_TEXT - 1))]) == ""
    assert len(observe("x" * (OBSERVATION_TEXT + 5))) == OBSERVATION_TEXT


@pytest.mark.parametrize("yours", [b"ac", "ab", [97, 98], None])
def test_other_bytes_are_wrong(yours: object) -> None:
    expected = rounded(b"ab", b"ab", Same())
    assert isinstance(expected, Expected)
    assert judge_observation(b"ab", expected, Same()) is None
    difference = judge_observation(yours, expected, Same())
    assert difference is not None
    assert "b'ab'" in difference.fact.says
    assert described(bytes(100)) == repr(bytes(60))


@pytest.mark.parametrize("family", ["zeros", "nothing", "random", "first input", "reversed"])
def test_an_empty_program_has_other_bytes(family: str) -> None:
    assert Emptying(family).value(b"abc", [b"input"]) != b"abc"
