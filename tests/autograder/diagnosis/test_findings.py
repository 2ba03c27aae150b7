"""The finding of a difference: its words, the numbers beside it, and what two trials have to agree on."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from autograder.answer_key import Misconception
from autograder.checks import Same, Within
from autograder.comparison import ONLY_SOME_SIZES, Expected
from autograder.comparison.compare import compare
from autograder.comparison.float_arrays import dropped_wrongly
from autograder.diagnosis import (
    NOTHING_READ,
    Axes,
    Diagnosis,
    Location,
    Source,
    Trial,
    finding_of,
    of_difference,
    of_fault,
)
from autograder.diagnosis.case import Case, Pattern
from autograder.diagnosis.differences import _first_shown
from autograder.diagnosis.exceptions import Raised
from autograder.diagnosis.findings import excerpt
from autograder.diagnosis.judgement import Divergence, StepState
from autograder.diagnosis.locator import Locator
from autograder.diagnosis.named_sizes import Coefficient, agreed, factors, named, simplest, symbols_in
from autograder.protocol import Opaque, Value
from autograder.results import LARGEST, Certainty, Evidence, Fact, Finding, FindingKind, Place
from autograder.results.report import LONGEST
from autograder.runner import Fault, Survey
from tests.support.observations import CHECK, finding, observed, trial_of
from tests.support.zoo import COLUMNS, WORDS, TrialNumbers, causal, scores, softmax

AXES = Axes(COLUMNS[0], WORDS)

DROPPED = Fact("dropout", "In train mode the same places are dropped all along an axis", whole=True)


def finding_between(yours: Any, expected: Any, other: tuple[Any, Any] | None = None) -> Finding:
    """Return the finding of two trials; without another the first stands for both."""
    second = other or (yours, expected)
    return finding([trial_of(yours, expected, 0), trial_of(*second, 0 if other is None else 1)])


def evidence(of: Finding) -> Evidence:
    assert of.evidence is not None
    return of.evidence


# Words for axes.


def test_an_axis_is_named_by_its_size() -> None:
    assert AXES.names((3, 4, 7, 5)) == ("batch", "head", "query", "key")
    assert AXES.names((3, 7, 24)) == ("batch", "query", "feature")


def test_a_word_that_is_taken_gives_way_to_the_next() -> None:
    assert AXES.names((7, 7)) == ("query", "key")
    assert AXES.names((24, 24, 24)) == ("feature", "input feature", "second input feature")


def test_an_axis_of_an_unknown_size_has_its_number_alone() -> None:
    assert AXES.names((3, 1, 99)) == ("batch", "axis 1", "axis 2")
    assert Axes().names((3, 4)) == ("axis 0", "axis 1")


def test_a_word_that_only_one_trial_has_is_a_coincidence() -> None:
    assert agreed(("batch", "query"), ("batch", "feature")) == ("batch", "axis 1")
    assert agreed(("batch",), ("batch", "query")) == ("axis 0",)


# Names for constants.


def name_of(value: float) -> list[str]:
    return [name.text for name in simplest(named(value, factors(COLUMNS[0], {})))]


def test_a_number_of_one_size_is_named_by_it_before_all_others() -> None:
    assert name_of(24**0.5) == ["√D"]
    assert name_of(1 / 6**0.5) == ["1/√K"]
    assert name_of((23 / 24) ** 0.5) == ["√((D-1)/D)"]


def test_a_number_that_is_a_size_and_a_plain_number_has_both_names() -> None:
    assert name_of(4.0) == ["H", "4"]


def test_a_number_without_a_name_has_none() -> None:
    assert name_of(1.2345) == []


def test_a_name_has_to_fit_both_trials() -> None:
    one, other = TrialNumbers(0, "names").normal("B T D"), TrialNumbers(1, "names").normal("B T D")
    result = finding_between(4 * one, one, (4 * other, other))
    assert result.message == "Your result: 4 × the expected value in every element."
    result = finding_between(4 * one, one, (3 * other, other))
    assert result.message == "Your result: 4 × the expected value in every element; 4 = H (H = 4)."
    result = finding_between(1.7 * one, one, (1.7 * other, other))
    assert result.message == "Your result: 1.7 × the expected value in every element; the same for other sizes."


def coefficient(value: float, **sizes: int) -> Coefficient:
    return Coefficient(value, named(value, factors(sizes, {})))


def test_a_number_that_is_the_same_for_other_sizes_is_made_of_none_of_them() -> None:
    one = Pattern(NOTHING_READ, coefficient=coefficient(0.5, B=4, K=8))
    both = one.confirmed_by([Pattern(NOTHING_READ, coefficient=coefficient(0.5, B=3, K=6))])
    assert both is not None
    assert both.coefficient is not None
    assert not [name for name in both.coefficient.names if name.sizes]


def test_one_trial_names_a_root_of_a_size_and_no_fraction_of_one() -> None:
    for value, names in ((24**0.5, ["√D"]), (0.75, []), (0.25, [])):
        alone = Pattern(NOTHING_READ, coefficient=coefficient(value, B=4, D=24)).alone()
        assert alone is not None
        assert alone.coefficient is not None
        assert [name.text for name in alone.coefficient.names if name.sizes] == names


# What two trials have to agree on.


def test_a_pattern_that_the_second_trial_does_not_show_is_not_reported() -> None:
    one, other = TrialNumbers(0, "second").normal("B T D"), TrialNumbers(1, "second").normal("B T D")
    result = finding_between(2 * one, one, (other**3, other))
    assert result.id == "value"
    assert "differs" in result.message


def test_a_check_with_one_trial_reports_what_that_trial_shows() -> None:
    right = TrialNumbers(0, "once").normal("B T D")
    result = finding([trial_of(-right, right, 0)], replace(CHECK, trials=1))
    assert result.id == "sign"


def test_a_trial_that_is_right_is_mentioned() -> None:
    right = TrialNumbers(0, "sizes").normal("B T D")
    other = Trial(None, Axes(COLUMNS[1], WORDS))
    assert finding([trial_of(-right, right, 0), other]).detail == ONLY_SOME_SIZES
    assert finding([trial_of(-right, right, 0), Trial(None, AXES)]).detail != ONLY_SOME_SIZES, "its sizes are the same"
    assert finding([trial_of(-right, right, 0), other], replace(CHECK, judge=Within())).detail != ONLY_SOME_SIZES


def test_a_part_whose_name_holds_a_size_is_the_same_part_in_both_trials() -> None:
    one, other = causal(7), causal(9)
    result = finding_between({"size 7": one.T}, {"size 7": one}, ({"size 9": other.T}, {"size 9": other}))
    assert result.message == "size 7: right after swapping query and key."


def test_what_is_not_finite_for_two_reasons_is_counted_and_placed() -> None:
    one, other = TrialNumbers(0, "special").normal("B T D"), TrialNumbers(1, "special").normal("B T D")
    lost, infinite = one.copy(), other.copy()
    lost[1, 2, 3], infinite[0, 0, 0] = np.nan, np.inf
    message = finding_between(lost, one, (infinite, other)).message
    assert message == (
        "Your result: 1 of 504 numbers is NaN, expected finite ones; the first at batch 1, query 2, feature 3."
    )


# Length and letters.


def test_a_message_sheds_what_has_no_room_and_is_never_cut() -> None:
    name = "output for twice the value - twice the output, in a layer of its own, under a mask of two axes"
    one, other = TrialNumbers(0, "long"), TrialNumbers(1, "long")
    trials = [
        trial_of({name: trial.normal("B H T S")}, {name: trial.normal("B H T S")}, at)
        for at, trial in enumerate((one, other))
    ]
    message = finding(trials).message
    assert len(message) <= LONGEST
    assert message.endswith(".")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("the mask is inverted", "The mask is inverted."),
        ("top_k keeps one token more", "top_k keeps one token more."),
        ("item() of the next word", "item() of the next word."),
        ("forward returns a tuple", "forward returns a tuple."),
        ("backward is never called", "Backward is never called."),
    ],
)
def test_a_name_that_begins_with_code_keeps_its_letters(name: str, message: str) -> None:
    entry = Misconception("an-id", name, "It is so.", "Is it?", (), {})
    known = Diagnosis("pattern", DROPPED, misconception=entry, certainty=Certainty.SHOWN)
    assert finding_of(known, Source("a.py", functions=frozenset({"Model", "forward"}))).message == message


def test_a_named_misconception_keeps_the_observation_of_a_device_and_the_numbers() -> None:
    entry = Misconception("an-id", "it stays on the CPU", "It is so.", "Is it?", (), {})
    place = Place("a.py", 3)
    fault = Fault("RuntimeError", (), "two devices", "device", (place,), tensor="positions")
    diagnosis, source = of_fault(fault, "ex01_first.py", b""), Source("ex01_first.py")
    unnamed = finding_of(diagnosis, source)
    assert unnamed.message.startswith("positions stays on the CPU")
    named = finding_of(
        replace(diagnosis, evidence=Evidence("output"), misconception=entry, certainty=Certainty.SHOWN), source
    )
    assert named.detail == "It is so.\npositions stays on the CPU while the others are on another device."
    assert (named.place, named.evidence) == (place, Evidence("output"))


@pytest.mark.parametrize("is_first", [False, True])
def test_a_named_misconception_says_what_was_raised(is_first: bool) -> None:
    entry = Misconception("an-id", "the mask is cut", "It is so.", "Is it?", (), {})
    place = Place("ex01_first.py", 3, "first")
    diagnosis = of_fault(Fault("IndexError", (), "too far", "other", (place,)), place.file, b"")
    location = Location(place, first_mistake=entry) if is_first else None
    known = diagnosis if is_first else replace(diagnosis, misconception=entry, certainty=Certainty.SHOWN)
    named = finding_of(known, Source(place.file), location)
    assert named.name == "the mask is cut"
    more = "\nThere may be one more mistake." if is_first else ""
    assert named.detail == f"It is so.\nYour code raised IndexError in first().{more}"


# What stands in place of a tensor.

RIGHT = observed(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
WRONG = observed(np.ones((2, 3)))


def sentence_of(yours: Value, expected: Value) -> str:
    difference = compare(yours, Expected(expected, expected), Same())
    assert difference is not None
    return "; ".join([difference.fact.says, *difference.fact.also])


@pytest.mark.parametrize(
    ("yours", "expected", "sentence"),
    [
        ([RIGHT, WRONG], RIGHT, "item 0 of the 2 you return is right; return it alone"),
        ({"a": WRONG, "b": RIGHT}, RIGHT, "item b of the 2 you return is right; return it alone"),
        ([WRONG, WRONG], RIGHT, "a list of 2, expected a tensor of shape (2, 3)"),
        (
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            RIGHT,
            "a list of 2 with the right values, expected a tensor of shape (2, 3)",
        ),
        (2.5, observed(np.array(2.5)), "2.5 with the right values, expected a tensor of shape ()"),
        (Opaque("numpy.ndarray"), RIGHT, "a numpy.ndarray, expected a tensor of shape (2, 3)"),
        (observed(np.array(2.5)), 2.5, "a tensor of shape (), expected 2.5; its value is right"),
        (observed(np.array(9.5)), 2.5, "a tensor of shape (), expected 2.5"),
        (
            observed(np.array([1, 2])),
            [1, 2],
            "a tensor of shape (2,), expected a list of 2; its value is right",
        ),
    ],
)
def test_what_stands_in_place_of_the_expected_is_named_and_whether_it_is_right(
    yours: Value, expected: Value, sentence: str
) -> None:
    assert sentence_of(yours, expected) == sentence


def test_a_gradient_that_is_missing_asks_for_what_stops_it() -> None:
    difference = compare({"gradient of the input": None}, Expected(*[{"gradient of the input": RIGHT}] * 2), Same())
    result = finding([Trial(difference, AXES), Trial(difference, AXES)])
    assert result.message == "gradient of the input: no gradient arrives."
    assert "Is there a detach()" in str(result.detail)


def test_a_gradient_of_zeros_is_asked_about_as_one() -> None:
    right = TrialNumbers(0, "gradient").normal("D V")
    result = finding_between({"gradient of w_q": 0 * right}, {"gradient of w_q": right})
    assert result.message == "gradient of w_q: 0 everywhere."
    assert "detached" in (result.detail or "")


def test_what_dropout_keeps_is_a_range_where_it_differs() -> None:
    random = np.random.default_rng(4)
    full = 1 + random.random((40, 50))
    kept = random.random(full.shape) >= 0.25
    uneven = dropped_wrongly(full * kept * (1 + random.random(full.shape)), full, 0.25)
    assert uneven is not None
    assert uneven.says.startswith("In train mode what is kept is 1.05 to 1.95 × its value")


def test_the_lines_of_an_excerpt_are_those_that_python_counts() -> None:
    source = 'first = "\x0c \x85 \u2028 \x1c"\r\nsecond\nthird'.encode()
    assert excerpt(source, Place("a.py", 2, "f"))[1:] == ((2, "second"), (3, "third"))


@pytest.mark.parametrize(("shape", "relu"), [((21, 7, 8), False), ((3, 1200), True), ((2, 3), False)])
def test_a_mask_of_dropout_that_is_shared_along_an_axis_is_wrong_where_chance_cannot_be_to_blame(
    shape: tuple[int, ...], relu: bool
) -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        full = random.standard_normal(shape)
        full = np.maximum(full, 0) if relu else full
        own = full * (random.random(shape) >= 0.4) / 0.6
        assert dropped_wrongly(own, full, 0.4) is None
        for axis in range(len(shape)):
            one = tuple(1 if at == axis else size for at, size in enumerate(shape))
            shared = dropped_wrongly(full * (random.random(one) >= 0.4) / 0.6, full, 0.4)
            assert (shared is not None) == (full.size > 6), (shape, axis)
            assert shared is None or shared.id == "dropout"


# The numbers beside a finding.


def attention() -> tuple[Any, Any]:
    """Return weights under a causal mask that only made the scores 0."""
    x, mask = scores(TrialNumbers(0, "evidence"), "T"), causal(7)
    return softmax(x * mask), softmax(np.where(mask, x, -np.inf))


def test_the_witnesses_are_those_of_the_pattern_not_the_largest_differences() -> None:
    result = finding_between(*attention())
    shown = evidence(result)
    assert result.id == "mask-number"
    assert shown.witness_title == "where no weight is expected"
    assert len(shown.witnesses) == 5
    for index, expected, yours in shown.witnesses:
        *_, query, key = map(int, index.split(", "))
        assert key > query
        assert expected == "0"
        assert float(yours) > 0


def test_the_last_row_belongs_to_the_pattern() -> None:
    yours, expected = attention()
    rows = evidence(finding_between(yours, expected)).rows
    assert [label for label, _, _ in rows] == ["shape", "dtype", "min", "mean", "max", "row sums"]
    assert rows[-1] == ("row sums", "1", "1")
    right = TrialNumbers(0, "row").normal("B T D")
    assert evidence(finding_between(2 * right, right)).rows[-1][0] == "std"


def test_equal_weights_along_another_axis_show_their_sums() -> None:
    shape, other = (3, 4, 7, 5), (2, 3, 8, 6)
    pairs = [(np.full(sizes, 1 / sizes[2]), np.full(sizes, 1 / sizes[3])) for sizes in (shape, other)]
    result = finding_between(*pairs[0], pairs[1])
    assert result.id == "other-axis"
    assert evidence(result).rows[-1] == ("row sums", "1", "0.7143")


@pytest.mark.parametrize(("factor", "title"), [(None, LARGEST), (1.4, "every number by the same factor")])
def test_one_factor_is_claimed_for_a_named_mistake_only_if_its_line_makes_it(factor: float | None, title: str) -> None:
    right = TrialNumbers(0, "chance").normal("B T D")
    trials = [trial_of(1.4 * right, right, 0)] * 2
    entry = Misconception("an-id", "the axis is another one", "It is so.", "Is it?", (), {})
    known = replace(of_difference(CHECK, trials, evidence=True), misconception=entry, certainty=Certainty.SHOWN)
    place = Place("ex05_attention.py", 3)
    location = Location(place, Divergence(place, StepState.UNKNOWN, factor, (), True))
    assert evidence(finding_of(known, Source("ex05_attention.py"), location)).witness_title == title


def test_the_map_is_a_slice_with_a_caption_in_words() -> None:
    yours, expected = attention()
    shown = evidence(finding_between(yours, expected))
    assert shown.maps is not None
    assert shown.axes == "batch, head, query, key"
    head, batch = (int(word.strip(",")) for word in shown.maps.caption.split() if word.strip(",").isdigit())
    assert shown.maps.caption == f"head {head} of batch {batch}, query × key"
    assert shown.maps.yours == tuple(tuple(float(f"{x:.4g}") for x in row) for row in yours[batch, head])


def test_a_map_is_cut_to_what_can_be_drawn_around_the_largest_difference() -> None:
    right = TrialNumbers(0, "large").normal("T V")
    wrong = np.sin(right)
    wrong[3, 28] = 50.0
    shown = evidence(finding_between(wrong, right)).maps
    assert shown is not None
    assert shown.caption == "query × token 5 to 28 of 29"
    assert {len(row) for row in (*shown.yours, *shown.expected)} == {24}
    assert shown.yours[3][-1] == 50.0


def test_what_is_no_finite_number_is_none_in_a_map() -> None:
    right = TrialNumbers(0, "finite").normal("T D")
    wrong = np.where(right > 1, np.nan, right)
    shown = evidence(finding_between(wrong, right))
    assert shown.maps is not None
    assert shown.maps.yours[int(shown.witnesses[0][0].split(", ")[0])].count(None) > 0
    assert {yours for _, _, yours in shown.witnesses} == {"NaN"}


def test_masks_and_ids_have_no_mean() -> None:
    shown = evidence(finding_between(~causal(7), causal(7)))
    assert shown.rows[2:] == (("True", "28", "21"),)
    assert shown.maps is not None
    ids = np.arange(21).reshape(3, 7)
    shown = evidence(finding_between((ids * 5 + 2) % 21, ids))
    assert [label for label, _, _ in shown.rows] == ["shape", "dtype", "min", "max"]
    assert shown.maps is None


def test_there_is_no_map_where_it_would_not_help() -> None:
    right = TrialNumbers(0, "nothing").normal("B T D")
    assert evidence(finding_between(0 * right, right)).maps is None, "one colour is no picture"
    assert evidence(finding_between(right[:, :-1], right)).maps is None, "two shapes are not on one scale"
    assert evidence(finding_between(right.astype(np.float16), right)).maps is None, "rounding cannot be seen"
    assert evidence(finding_between(np.sin(right[0, 0]), right[0, 0])).maps is None, "a row is no map"


def test_a_shape_that_follows_no_pattern_has_its_axes_named() -> None:
    trial = TrialNumbers(0, "shape")
    result = finding_between(trial.random.standard_normal((5, 3, 2, 2)), trial.normal("B T D"))
    assert result.message == "Your result: shape (5, 3, 2, 2), expected (3, 7, 24)."
    assert result.detail == "Expected: batch 3, query 7, feature 24."


def test_a_size_of_an_axis_without_a_word_gets_no_symbol_by_chance() -> None:
    """A number of new tokens may equal a size of the trial."""
    result = finding_between(np.zeros((3, 7)), np.ones((3, 5)), (np.zeros((2, 9)), np.ones((2, 13))))
    assert result.message == "Your result: axis 1 is 7, expected 5; shape (3, 7), expected (3, 5)."


def test_elements_of_arrays_without_words_are_named_by_their_index() -> None:
    values = np.random.default_rng(1).standard_normal((2, 2, 51))
    result = finding_between(values[0], values[1])
    assert "first at [0, 0]: expected" in result.message or "first at index 0 of axis 0" in result.message


def test_a_few_bits_are_no_region() -> None:
    """A small tensor of true and false has no meaning along its axes that one could claim."""
    expected = np.array([[True, True, False, False], [True, True, True, False]])
    yours = np.array([[True, False, False, True], [True, False, True, False]])
    result = finding_between({"seen, the likeliest first": yours}, {"seen, the likeliest first": expected})
    assert result.message.startswith("seen, the likeliest first: 3 of 8 places differ")


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_mixtures_of_one_row_prove_no_factor_of_their_own(offset: float) -> None:
    """Where all rows are multiples of one, plus a number, any mixture of them is so too."""
    random = np.random.default_rng(3)
    row, sizes = random.standard_normal(6), random.uniform(0.5, 2, (2, 8, 1))
    expected = row * sizes + offset * random.standard_normal((2, 8, 1))
    mixed = np.einsum("ts,bsd->btd", random.dirichlet(np.ones(8), 8), expected)
    result = finding_between(mixed, expected)
    assert "its own" not in result.message


def test_zeros_that_have_to_be_exact_are_shown_where_they_are_not() -> None:
    expected = np.array([[1.0, 0.0, 2.0], [0.5, 3.0, 0.0]])
    yours = expected + np.array([[0, 1e-9, 0], [0, 0, 0]])
    exact = Expected(observed(expected), observed(expected, "float64"))
    difference = compare(observed(yours), exact, Same(exact_zeros=True))
    result = finding([Trial(difference, AXES), Trial(difference, AXES)])
    assert result.message.startswith("Your result: wrong only where 0 is expected, at 1 of 2 such places")


# Whatever a student's code returns.

ODD = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e30, -3e38, np.inf, -np.inf, np.nan, 2.5)
SHAPES = (
    (),
    (0,),
    (1,),
    (3,),
    (5,),
    (3, 7),
    (7, 3),
    (7, 7),
    (3, 1, 7),
    (3, 0),
    (3, 4, 7, 5),
    (1, 1, 1),
    (7, 24),
    (24, 7),
)


def odd(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Return an array of normal numbers, of odd ones, of both, of ids, or of true and false."""
    normal = random.standard_normal(shape)
    some = random.choice(ODD, shape)
    kinds = [normal, some, np.where(random.random(shape) < 0.2, some, normal), np.ones(shape), np.zeros(shape)]
    kinds += [random.integers(-5, 9, shape), random.random(shape) < 0.5, np.where(normal > 0, np.nan, 1.0)]
    return kinds[random.integers(len(kinds))]


@pytest.mark.long
@pytest.mark.filterwarnings("error")
def test_no_result_is_so_odd_that_it_has_no_finding() -> None:
    random = np.random.default_rng(9)
    for _ in range(1_500):
        shape = SHAPES[random.integers(len(SHAPES))]
        other = shape if random.random() < 0.7 else SHAPES[random.integers(len(SHAPES))]
        trials = [trial_of(odd(random, shape), odd(random, other), number) for number in range(2)]
        if any(trial.difference is not None for trial in trials):
            result = finding(trials)
            assert 0 < len(result.message) <= LONGEST, result


@pytest.mark.parametrize(
    ("kind", "begins"), [("pattern", "Your results equal those of"), ("exception", "Your code fails like")]
)
def test_a_name_that_only_the_results_speak_for_is_said_so(kind: FindingKind, begins: str) -> None:
    entry = Misconception("an-id", "length is moved twice", "The next tokens are lost.", "How long is it?", (), {})
    alike = Diagnosis(kind, DROPPED, misconception=entry, certainty=Certainty.ALIKE)
    finding = finding_of(alike, Source("ex05_attention.py"))
    assert finding.message == f"{begins} a program in which length is moved twice."
    assert (finding.id, finding.name, finding.claim) == ("an-id", entry.name, Certainty.ALIKE)
    assert entry.explanation not in str(finding.detail), "what explains the mistake speaks of what was not seen"
    proved = Location(Place("ex05_attention.py", 3), certainty=Certainty.SHOWN)
    assert finding_of(alike, Source("ex05_attention.py"), proved).claim is Certainty.ALIKE
    shown = finding_of(alike, Source("ex05_attention.py"), replace(proved, first_mistake=entry))
    assert (shown.message, shown.claim) == ("Length is moved twice.", Certainty.SHOWN)


def test_a_line_beside_which_another_one_is_missing_is_not_called_wrong() -> None:
    place = Place("ex05_attention.py", 3, None, 4, 9)
    proved = Location(place, certainty=Certainty.SHOWN, adds="above")
    finding = finding_of(Diagnosis("pattern", DROPPED), Source("ex05_attention.py", b"a\nb\nc\n"), proved)
    assert (finding.label, finding.place) == ("a line is missing above", replace(place, column=None, end=None))


@pytest.mark.parametrize(("line", "certainty"), [(3, Certainty.ALIKE), (2, Certainty.LIKELY)])
def test_a_line_from_which_an_exception_comes_is_likely(line: int, certainty: Certainty) -> None:
    raised = Diagnosis("exception", Raised("ValueError", False).fact, place=Place("ex05_attention.py", line))
    location = Location(Place("ex05_attention.py", 3), certainty=Certainty.ALIKE)
    assert finding_of(raised, Source("ex05_attention.py", b"a\nb\nc\n"), location).certainty is certainty


def test_no_line_of_the_statement_that_is_wrong_agrees() -> None:
    divergence = Divergence(Place("ex05_attention.py", 3), StepState.UNKNOWN, None, (2, 4, 6), True)
    trials = SimpleNamespace(survey=Survey(running=((2, 2), (3, 5), (6, 6))))
    location = Locator._beside(cast(Any, SimpleNamespace(trials=trials)), Location(divergence.place, divergence), None)
    assert location.divergence is not None
    assert location.divergence.agreeing == (2, 6)


Row = tuple[str, str, str]


@pytest.mark.parametrize(
    ("yours", "expected", "row"),
    [
        (["a"], ["a", "b"], ("parts", "['a', 'b']", "['a']")),
        ([*"abcdx"], [*"abcde", "f"], ("parts", "[..., 'd', 'e', 'f']", "[..., 'd', 'x']")),
        ([], [["Ann", 3]], ("parts", "[['Ann', 3]]", "[]")),
        ([0] * 40, [1] * 41, ("parts", f"[{'1, ' * 18}1,...", f"[{'0, ' * 18}0,...")),
    ],
)
def test_lists_of_another_length_stand_beside_each_other(
    yours: list[Value], expected: list[Value], row: tuple[str, str, str]
) -> None:
    trial = Trial(compare(yours, Expected(expected, expected), Same()), Axes({}, {}))
    result = finding([trial, trial])
    assert evidence(result).rows == (row,)
    assert finding([trial, trial], evidence=False).evidence is None


@pytest.mark.parametrize(
    ("yours", "expected", "name", "rows", "differing"),
    [
        (
            [1, 2, 3, 5],
            [1, 2, 4, 6],
            "result",
            [("parts", "[..., 2, 4, 6]", "[..., 2, 3, 5]")],
            [("item 2", "4", "3"), ("item 3", "6", "5")],
        ),
        (
            {"a": 1, "b": "x", "c": 0.5},
            {"a": 2, "b": "y", "c": 0.5},
            "result",
            [],
            [("a", "2", "1"), ("b", "'y'", "'x'")],
        ),
        ([[1, 2], [3]], [[1, 2], [4]], "item 1", [("parts", "[4]", "[3]")], []),
        (
            {"rows": [["a", 1.5], ["b", 2.5]]},
            {"rows": [["a", 1.0], ["b", 2.0]]},
            "item 0 of rows",
            [("parts", "['a', 1.0]", "['a', 1.5]")],
            [("item [0][1] of rows", "1", "1.5"), ("item [1][1] of rows", "2", "2.5")],
        ),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "", [], []),
        (1, 2, "", [], []),
    ],
)
def test_all_plain_values_that_differ_are_shown(
    yours: Value, expected: Value, name: str, rows: list[Row], differing: list[Row]
) -> None:
    trial = Trial(compare(yours, Expected(expected, expected), Same()), Axes({}, {}), expected, yours)
    result = finding([trial, trial]).evidence
    assert (result is None) == (not name)
    if result is not None:
        assert (result.name, [*result.rows], [*result.witnesses]) == (name, rows, differing)
    assert finding([trial, trial], evidence=False).evidence is None


def test_of_many_plain_values_that_differ_the_first_are_shown() -> None:
    trial = Trial(compare([0] * 99, Expected([1] * 99, [1] * 99), Same()), Axes({}, {}), [1] * 99, [0] * 99)
    shown = evidence(finding([trial, trial]))
    assert (len(shown.witnesses), shown.witness_title) == (24, "values that differ")


def test_lists_of_arrays_are_only_counted() -> None:
    arrays = [observed([1.0, 2.0])]
    trial = Trial(compare([], Expected([*arrays], [*arrays]), Same()), Axes({}, {}))
    assert finding([trial, trial]).evidence is None


def test_only_sizes_that_a_check_asks_for_explain_a_number() -> None:
    def given(names: str) -> None:
        pass

    def sized() -> None:
        given("T D")

    def probe() -> None:
        sized()

    assert {"T", "D"} <= symbols_in(probe)
    sizes = {"T": 5, "H": 3, "D": 7}
    assert dict(Axes(sizes, used=symbols_in(probe)).used_sizes) == {"T": 5, "D": 7}
    assert dict(Axes(sizes).used_sizes) == sizes


def test_the_element_that_is_shown_has_numbers_that_are_printed_otherwise() -> None:
    expected = np.array([0.11162, 0.1189, 0.1502])
    found = finding_between(np.array([0.11159, 0.1012, 0.1813]), expected)
    assert found.message == "Your result: every number differs; for example at batch 1: expected 0.1189, yours 0.1012."


def test_the_element_that_is_shown_is_the_furthest_off_if_all_are_printed_alike() -> None:
    expected = np.array([0.111621, 0.118933, 0.150227])
    case = Case(expected + np.array([1e-6, -9e-6, 4e-6]), expected)
    assert _first_shown(np.array([True, True, True]), case) == (1,)
