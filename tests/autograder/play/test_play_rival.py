"""The n-gram model that `course play write` has to beat: probabilities, what it is by hand, and what it is good at."""

import itertools
import random

import numpy as np
import pytest

from play.rival import SHARES, NGramModel, bits, discounts, fitted

TEXT = "the hare met the otter. the otter met the heron, and the heron met the hare. " * 4 + "then they ate the tart."
ALPHABET = sorted({*TEXT, "z"})
IDS = [ALPHABET.index(character) for character in TEXT]


@pytest.mark.long
@pytest.mark.parametrize("share", SHARES)
def test_the_chances_of_all_letters_sum_to_one_after_any_context(share: float) -> None:
    rival = NGramModel(IDS, len(ALPHABET), share=share)
    draw = random.Random(1)
    seen = [IDS[at : at + 4] for at in draw.sample(range(len(IDS) - 4), 20)]
    unseen = [draw.choices(range(len(ALPHABET)), k=4) for _ in range(20)]
    for context in (*seen, *unseen):
        chances = [rival.probabilities([*context, letter])[0] for letter in range(len(ALPHABET))]
        assert min(chances) > 0
        assert sum(chances) == pytest.approx(1)


def test_an_order_of_two_is_what_it_is_by_hand() -> None:
    """`aabab` has aa, ab, ba, ab; all discounts are one half, as there are so few counts."""
    rival = NGramModel([0, 0, 1, 0, 1], 2, order=2)
    # A letter alone: a is seen after two letters, b after one, of three kinds of pairs; two letters are discounted.
    alone = [(2 - 0.5) / 3 + 2 * 0.5 / 3 / 2, (1 - 0.5) / 3 + 2 * 0.5 / 3 / 2]
    after_a = [(1 - 0.5) / 3 + 2 * 0.5 / 3 * alone[0], (2 - 0.5) / 3 + 2 * 0.5 / 3 * alone[1]]
    after_b = [(1 - 0.5) / 1 + 0.5 * alone[0], 0.5 * alone[1]]
    pairs = itertools.product((0, 1), repeat=2)
    chances = [float(rival.probabilities(pair)[0]) for pair in pairs]
    assert chances == pytest.approx([*after_a, *after_b])


def test_three_discounts_follow_from_counts_of_counts() -> None:
    counts = np.repeat([1, 2, 3, 4, 9], [8, 4, 2, 1, 3])
    # share = 8 / (8 + 2 * 4) = 1/2; 1 - 2 * 1/2 * 4/8, 2 - 3 * 1/2 * 2/4, 3 - 4 * 1/2 * 1/2
    assert discounts(counts) == pytest.approx([0, 0.5, 1.25, 2])


def test_what_was_learnt_costs_less_than_chance_and_less_than_with_a_shorter_memory() -> None:
    again = IDS[:120]
    nats = [NGramModel(IDS, len(ALPHABET), order=order).nats(again) for order in (1, 2, 3, 5)]
    assert nats == sorted(nats, reverse=True)
    assert nats[0] < np.log(len(ALPHABET))
    assert bits(nats[0]) == pytest.approx(nats[0] / np.log(2))


def test_the_factor_is_the_best_for_a_part_that_was_not_learnt() -> None:
    rival = fitted(IDS, len(ALPHABET))
    cut = len(IDS) * 9 // 10
    tried = {share: NGramModel(IDS[:cut], len(ALPHABET), share=share).nats(IDS[cut - 4 :]) for share in SHARES}
    assert tried[rival.share] == min(tried.values())
    assert rival.nats(IDS) == NGramModel(IDS, len(ALPHABET), share=rival.share).nats(IDS)


def test_more_letters_than_there_are_codes_are_refused() -> None:
    with pytest.raises(ValueError, match="10000 different characters are too many"):
        NGramModel([0, 1], 10_000)
