"""Wrong results of every kind, each with the finding it should get: NumPy only, made from a seed, in two sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[Any]]

COLUMNS = (
    {"B": 3, "T": 7, "S": 5, "H": 4, "K": 6, "D": 24, "Kv": 10, "N": 11, "V": 29, "F": 17},
    {"B": 2, "T": 9, "S": 8, "H": 3, "K": 7, "D": 21, "Kv": 4, "N": 13, "V": 37, "F": 19},
)
WORDS = {
    **{"B": ("batch",), "T": ("query", "key"), "S": ("query", "key"), "H": ("head",), "V": ("token",)},
    **{"K": ("feature", "input feature"), "D": ("feature", "input feature"), "Kv": ("feature",)},
    **{"N": ("position",), "F": ("hidden feature",)},
}


class TrialNumbers:
    """The sizes of one trial, and random numbers from its seed."""

    def __init__(self, number: int, name: str) -> None:
        self.sizes = COLUMNS[number]
        self.random = np.random.default_rng([number, *name.encode()])

    def of(self, symbols: str) -> tuple[int, ...]:
        """Return sizes: `trial.of("B T K")`."""
        return tuple(self.sizes[symbol] for symbol in symbols.split())

    def normal(self, symbols: str) -> Numbers:
        return self.random.standard_normal(self.of(symbols))

    def mask(self, symbols: str, share: float = 0.6) -> Numbers:
        """Return true and false, with something true in every row."""
        mask = self.random.random(self.of(symbols)) < share
        mask[..., 0] = True
        return mask


Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Wrong:
    """A wrong result: `make` returns yours and the expected; `says` stands in the message, None is no pattern."""

    name: str
    make: Callable[[TrialNumbers], Pair]
    id: str | None
    says: str


ZOO: list[Wrong] = []


def wrong(
    id_: str | None, says: str = ""
) -> Callable[[Callable[[TrialNumbers], Pair]], Callable[[TrialNumbers], Pair]]:
    """Put a wrong result into the zoo."""

    def put(make: Callable[[TrialNumbers], Pair]) -> Callable[[TrialNumbers], Pair]:
        ZOO.append(Wrong(make.__name__, make, id_, says))
        return make

    return put


def softmax(x: Numbers, axis: int | tuple[int, ...] = -1) -> Numbers:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    shares: Numbers = powers / powers.sum(axis=axis, keepdims=True)
    return shares


def scores(trial: TrialNumbers, keys: str = "S") -> Numbers:
    query, key = trial.normal("B H T K"), trial.normal(f"B H {keys} K")
    scaled: Numbers = query @ np.swapaxes(key, -1, -2) / np.sqrt(trial.sizes["K"])
    return scaled


def causal(size: int, diagonal: int = 0) -> Numbers:
    return np.tril(np.ones((size, size), dtype=bool), diagonal)


def hidden(x: Numbers, mask: Numbers, low: float = -np.inf) -> Numbers:
    return np.where(mask, x, low)


# Scores.


@wrong("ratio", "= √K")
def scores_not_scaled(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return right * np.sqrt(trial.sizes["K"]), right


@wrong("ratio", "= 1/√K")
def scores_scaled_twice(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return right / np.sqrt(trial.sizes["K"]), right


@wrong("ratio", "= 1/√H")
def scores_scaled_by_the_width(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return right * np.sqrt(trial.sizes["K"] / trial.sizes["D"]), right


@wrong("ratio", "= 1/√K")
def scores_divided_by_the_key_size(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return right / np.sqrt(trial.sizes["K"]), right


@wrong("ratio", "= K")
def scores_multiplied_by_the_root(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return right * trial.sizes["K"], right


@wrong("sign", "sign flipped")
def scores_with_the_other_sign(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return -right, right


@wrong("transposed", "swapping query and key")
def scores_of_keys_by_queries(trial: TrialNumbers) -> Pair:
    right = scores(trial, "T")
    return np.swapaxes(right, -1, -2), right


@wrong("shape-exchanged", "swapping query and key")
def scores_of_keys_by_queries_in_two_lengths(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return np.swapaxes(right, -1, -2), right


@wrong("ratio", "2 × the expected value in every element")
def scores_counted_twice(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return right + right, right


# Softmax and masks.


@wrong("other-axis", "sum to 1 along query, expected along key")
def softmax_over_queries(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(x, -2), softmax(x)


@wrong("other-axis", "sum to 1 along head, expected along key")
def softmax_over_heads(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(x, 1), softmax(x)


@wrong("all-axes", "weights of each head together sum to 1")
def softmax_over_queries_and_keys(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(x, (-2, -1)), softmax(x)


@wrong("all-axes", "all weights together sum to 1")
def softmax_over_everything(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(x, (0, 1, 2, 3)), softmax(x)


@wrong("lacks-softmax", "the softmax over key is missing")
def softmax_missing(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return x, softmax(x)


@wrong("is-softmax", "softmax over key of the expected value")
def softmax_twice(trial: TrialNumbers) -> Pair:
    right = softmax(scores(trial))
    return softmax(right), right


@wrong("is-logarithm", "the logarithm of the expected value")
def logarithms_of_weights(trial: TrialNumbers) -> Pair:
    right = softmax(scores(trial))
    return np.log(right), right


@wrong("not-normalized", "each row is the expected one times a number")
def exponentials_not_divided(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return np.exp(x), softmax(x)


@wrong("hard-max", "argmax where a softmax is expected")
def argmax_of_the_scores(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return (x == x.max(axis=-1, keepdims=True)).astype(float), softmax(x)


@wrong("temperature", "= √K")
def weights_of_scores_not_scaled(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(x * np.sqrt(trial.sizes["K"])), softmax(x)


@wrong("temperature", "too even")
def weights_of_scores_scaled_twice(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(x / np.sqrt(trial.sizes["K"])), softmax(x)


@wrong("temperature", "the wrong way round")
def softmin(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    return softmax(-x), softmax(x)


@wrong("mask-missing", "nothing is masked")
def mask_forgotten(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return softmax(x), softmax(hidden(x, mask))


@wrong("mask-number", "every hidden key still gets weight")
def mask_times_scores(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return softmax(x * mask), softmax(hidden(x, mask))


@wrong("mask-number", "rows sum to 1, so the softmax is right")
def mask_of_minus_one(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return softmax(hidden(x, mask, -1.0)), softmax(hidden(x, mask))


@wrong("mask-after", "rows no longer sum to 1")
def mask_after_the_softmax(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return softmax(x) * mask, softmax(hidden(x, mask))


@wrong("mask-transposed", "sees what comes later")
def weights_of_the_future(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return softmax(hidden(x, mask.T)), softmax(hidden(x, mask))


@wrong("mask-inverted", "the mask is inverted")
def weights_by_an_inverted_mask(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial), trial.mask("B H T S", 0.5)
    mask[..., -1] = False
    return softmax(hidden(x, ~mask)), softmax(hidden(x, mask))


@wrong("leak", "hidden places get weight")
def padding_ignored_under_a_causal_mask(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    real = np.arange(trial.sizes["T"]) < np.arange(3, 3 + trial.sizes["B"])[:, None, None, None]
    return softmax(hidden(x, mask)), softmax(hidden(x, mask & real))


@wrong("leak", "hidden places get weight")
def mask_one_too_wide(trial: TrialNumbers) -> Pair:
    x, size = scores(trial, "T"), trial.sizes["T"]
    return softmax(hidden(x, causal(size, 1))), softmax(hidden(x, causal(size)))


@wrong("mask-missing", "nothing is masked")
def padding_of_keys_forgotten(trial: TrialNumbers) -> Pair:
    x = scores(trial)
    real = np.arange(trial.sizes["S"]) < np.arange(2, 2 + trial.sizes["B"])[:, None, None, None]
    return softmax(x), softmax(hidden(x, real))


@wrong("zero-for-inf", "0 where -inf is expected, the others are right")
def masked_scores_of_zero(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return hidden(x, mask, 0.0), hidden(x, mask)


@wrong("low-for-inf", "-1e+09 where -inf is expected")
def masked_scores_of_minus_a_billion(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return hidden(x, mask, -1e9), hidden(x, mask)


@wrong("inf-transposed", "-inf at other places: right after swapping")
def masked_scores_on_the_other_side(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial, "T"), causal(trial.sizes["T"])
    return hidden(x, mask.T), hidden(x, mask)


@wrong("inf-inverted", "-inf at other places: inverted")
def masked_scores_inverted(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial), trial.mask("B H T S")
    return hidden(x, ~mask), hidden(x, mask)


@wrong("nan-rows", "whole rows are NaN, the others are right")
def softmax_of_nothing(trial: TrialNumbers) -> Pair:
    x, mask = scores(trial), trial.mask("B 1 T S".replace("1 ", ""))[:, None]
    right = softmax(hidden(x, mask))
    lost = right.copy()
    lost[0, :, 1] = np.nan
    return lost, right


@wrong("all-nan", "every number is NaN")
def nothing_but_nan(trial: TrialNumbers) -> Pair:
    right = softmax(scores(trial))
    return right * np.nan, right


@wrong("inf", "are inf")
def overflow(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return np.where(right > 1, np.inf, right), right


@wrong("some-nan", "are NaN, the others are right")
def logarithm_of_negative_numbers(trial: TrialNumbers) -> Pair:
    right = scores(trial)
    return np.where(right < -1, np.nan, right), right


# Masks themselves.


@wrong("mask-inverted", "inverted")
def padding_mask_inverted(trial: TrialNumbers) -> Pair:
    right = trial.mask("B T")[:, None, None, :]
    return ~right, right


@wrong("mask-transposed", "swapping query and key")
def look_ahead_mask_transposed(trial: TrialNumbers) -> Pair:
    right = causal(trial.sizes["T"])
    return right.T, right


@wrong("mask-transposed-inverted", "exchanging true and false")
def look_ahead_mask_of_the_strict_past(trial: TrialNumbers) -> Pair:
    right = causal(trial.sizes["T"])
    return ~right.T, right


@wrong("mask-inverted", "inverted")
def look_ahead_mask_of_the_strict_future(trial: TrialNumbers) -> Pair:
    right = causal(trial.sizes["T"])
    return ~right, right


@wrong("mask-diagonal", "the diagonal above the main one, which is too much")
def look_ahead_mask_one_too_far(trial: TrialNumbers) -> Pair:
    return causal(trial.sizes["T"], 1), causal(trial.sizes["T"])


@wrong("constant", "True everywhere")
def look_ahead_mask_of_ones(trial: TrialNumbers) -> Pair:
    right = causal(trial.sizes["T"])
    return right | True, right


@wrong("constant", "False everywhere")
def mask_that_blocks_everything(trial: TrialNumbers) -> Pair:
    right = trial.mask("B T T")
    return right & False, right


@wrong("mask-more", "True where False is expected, the others are right")
def target_mask_joined_by_or(trial: TrialNumbers) -> Pair:
    real, past = trial.mask("B T", 0.7)[:, None, None, :], causal(trial.sizes["T"])
    return real | past, real & past


@wrong("mask-more", "True where False is expected, the others are right")
def target_mask_without_padding(trial: TrialNumbers) -> Pair:
    real, past = trial.mask("B T", 0.7)[:, None, None, :], causal(trial.sizes["T"])
    return np.broadcast_to(past, (real & past).shape), real & past


@wrong("bits", "its 0 and 1 are right as false and true")
def mask_of_numbers(trial: TrialNumbers) -> Pair:
    right = trial.mask("B T T")
    return right.astype(np.float32), right


@wrong("bits-inverted", "exchanged as well")
def mask_of_numbers_inverted(trial: TrialNumbers) -> Pair:
    right = trial.mask("B T T")
    return (~right).astype(np.float32), right


@wrong("shape-ones", "an axis of size 1 is missing")
def mask_without_its_head_axis(trial: TrialNumbers) -> Pair:
    right = trial.mask("B T T")[:, None]
    return right[:, 0], right


@wrong("mask-fewer", "False where True is expected, the others are right")
def mask_that_hides_padded_queries_too(trial: TrialNumbers) -> Pair:
    real = trial.mask("B T", 0.7)
    right = np.broadcast_to(real[:, None, None, :], (*real.shape[:1], 1, *real.shape[1:], *real.shape[1:]))
    return right & real[:, None, :, None], right


# Heads.


def split(trial: TrialNumbers, x: Numbers) -> Numbers:
    return np.swapaxes(x.reshape(*x.shape[:2], trial.sizes["H"], -1), 1, 2)


def merged(x: Numbers) -> Numbers:
    return np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


@wrong("view-for-transpose", "exchanged by a view")
def heads_split_by_a_view(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    right = split(trial, x)
    return x.reshape(right.shape), right


@wrong("split-otherwise", "head and feature are interleaved")
def heads_split_as_features_of_heads(trial: TrialNumbers) -> Pair:
    x, (batch, length, heads, size) = trial.normal("B T D"), trial.of("B T H K")
    return x.reshape(batch, length, size, heads).transpose(0, 3, 1, 2), split(trial, x)


@wrong("merge-without-transpose", "without a transpose")
def heads_merged_by_a_view(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    right = merged(x)
    return x.reshape(right.shape), right


@wrong("split-otherwise", "feature is interleaved")
def heads_merged_in_the_other_order(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    right = merged(x)
    return x.transpose(0, 2, 3, 1).reshape(right.shape), right


@wrong("shape-unmerged", "right once head and query are swapped and then axes are joined")
def heads_not_merged(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    return x, merged(x)


@wrong("shape-reshaped", "the right numbers in the right order")
def heads_transposed_and_not_merged(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    return np.swapaxes(x, 1, 2), merged(x)


@wrong("shape-exchanged", "swapping query and head")
def heads_not_transposed(trial: TrialNumbers) -> Pair:
    x = split(trial, trial.normal("B T D"))
    return np.swapaxes(x, 1, 2), x


@wrong("flipped", "in reverse order along head")
def heads_reversed(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    return x[:, ::-1], x


@wrong("repeated", "every head holds what head 0 should")
def first_head_everywhere(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    return np.broadcast_to(x[:, :1], x.shape), x


@wrong("rolled", "rotated by 1 along head")
def heads_rotated(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    return np.roll(x, 1, axis=1), x


@wrong("region", "wrong only at the last head")
def last_head_left_out(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    lost = x.copy()
    lost[:, -1] = 0
    return lost, x


@wrong("region", "right only at the first head")
def only_the_first_head(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    lost = x.copy()
    lost[:, 1:] = trial.normal("B H T K")[:, 1:]
    return lost, x


@wrong("shape-reduced-too-far", "the mean of the expected value over head")
def heads_averaged(trial: TrialNumbers) -> Pair:
    x = trial.normal("B H T K")
    return x.mean(axis=1), x


@wrong("shape-missing-axis", "the axis head is missing")
def no_head_axis(trial: TrialNumbers) -> Pair:
    return trial.normal("B T K"), trial.normal("B H T K")


@wrong("shape-one-size", "feature is 17 (F), expected 24 (D)")
def output_of_the_hidden_size(trial: TrialNumbers) -> Pair:
    return trial.normal("B T F"), trial.normal("B T D")


@wrong("shape-order", "query and head are exchanged, and the numbers are not")
def head_and_query_exchanged_and_wrong(trial: TrialNumbers) -> Pair:
    return trial.normal("B H T K"), trial.normal("B T H K")


@wrong("extra-term", "the expected value plus input")
def input_added_twice(trial: TrialNumbers) -> Pair:
    x, y = trial.normal("B T D"), trial.normal("B T D")
    return {"output": y + x, "input": x}, {"output": y, "input": x}


@wrong("lacks-term", "the expected value without input")
def residual_missing(trial: TrialNumbers) -> Pair:
    x, y = trial.normal("B T D"), trial.normal("B T D")
    return {"output": y, "input": x}, {"output": x + y, "input": x}


@wrong("equals", "exactly what values should be")
def keys_used_as_values(trial: TrialNumbers) -> Pair:
    one, other = trial.normal("B T K"), trial.normal("B T K")
    return {"keys": other, "values": other}, {"keys": one, "values": other}


# Norms.


def normed(x: Numbers, eps: float = 1e-6, ddof: int = 0) -> Numbers:
    result: Numbers = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=ddof) + eps)
    return result


@wrong("ratio", "= √((D-1)/D)")
def variance_unbiased(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    return normed(x, 0, 1), normed(x, 0)


@wrong("offset-along", "each query is the expected one plus its own offset")
def mean_not_taken_away(trial: TrialNumbers) -> Pair:
    x = trial.normal("T D") + 3 * trial.random.standard_normal((trial.sizes["T"], 1))
    return x / np.sqrt(x.var(-1, keepdims=True)), normed(x, 0)


@wrong("ratio-along", "each row along feature is the expected one times its own factor")
def not_divided_by_the_deviation(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D") * trial.random.uniform(0.5, 3, (*trial.of("B T"), 1))
    return x - x.mean(-1, keepdims=True), normed(x)


@wrong("ratio-along", "each row along feature")
def divided_by_the_variance(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D") * trial.random.uniform(0.5, 3, (*trial.of("B T"), 1))
    return (x - x.mean(-1, keepdims=True)) / x.var(-1, keepdims=True), normed(x)


@wrong("affine-along", "each row along feature has a factor and an offset of its own")
def statistics_of_the_whole_tensor(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D") * trial.random.uniform(0.5, 3, (*trial.of("B T"), 1)) + trial.random.uniform(
        -2, 2, (*trial.of("B T"), 1)
    )
    return (x - x.mean()) / x.std(), normed(x)


@wrong("near", "near, but not equal")
def eps_outside_the_root(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    root = np.sqrt(x.var(-1, keepdims=True))
    return (x - x.mean(-1, keepdims=True)) / (root + 1e-3), normed(x, 1e-6)


@wrong("ratio-along", "each feature is the expected one times its own factor")
def scale_not_applied(trial: TrialNumbers) -> Pair:
    x, scale = trial.normal("B T D"), trial.random.uniform(0.5, 2, trial.sizes["D"])
    return normed(x), scale * normed(x)


@wrong("ratio-along", "that is alpha")
def scale_applied_twice(trial: TrialNumbers) -> Pair:
    x, scale = trial.normal("B T D"), trial.random.uniform(0.5, 2, trial.sizes["D"])
    right = scale * normed(x)
    return {"output": scale * right, "alpha": scale}, {"output": right, "alpha": scale}


@wrong("offset-along", "each feature is the expected one plus its own offset")
def shift_not_applied(trial: TrialNumbers) -> Pair:
    x, shift = trial.normal("B T D"), trial.normal("D")
    return normed(x), normed(x) + shift


@wrong(None, "differs; first at batch 0, query 0, feature 0")
def statistics_over_the_positions(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    wrongly = np.swapaxes(normed(np.swapaxes(x, -1, -2)), -1, -2)
    return wrongly, normed(x)


@wrong("offset", "the expected value + 1 in every element")
def one_too_much(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    return x + 1, x


@wrong("affine", "× the expected value + 0.5 in every element")
def scaled_and_moved(trial: TrialNumbers) -> Pair:
    x = normed(trial.normal("B T D"))
    return 2 * x + 0.5, x


# Activations.


@wrong("lacks-ReLU", "the ReLU is missing; with it the result is right")
def relu_missing(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T F")
    return x, np.maximum(x, 0)


@wrong("is-ReLU", "the ReLU of the expected value")
def relu_after_the_last_layer(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    return np.maximum(x, 0), x


@wrong("is-absolute value", "the absolute value of the expected value")
def sign_lost(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    return np.abs(x), x


@wrong("is-tanh", "the tanh of the expected value")
def tanh_too_many(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    return np.tanh(x), x


@wrong("lacks-sigmoid", "the sigmoid is missing")
def sigmoid_missing(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T D")
    return x, 1 / (1 + np.exp(-x))


@wrong("is-exponential", "take its logarithm")
def probabilities_for_logarithms(trial: TrialNumbers) -> Pair:
    right = np.log(softmax(trial.normal("B V")))
    return np.exp(right), right


@wrong("is-square", "the square of the expected value")
def variance_for_deviation(trial: TrialNumbers) -> Pair:
    x = trial.random.uniform(0.2, 3, trial.of("B T D"))
    return x * x, x


@wrong("is-reciprocal", "the reciprocal of the expected value")
def frequencies_that_grow(trial: TrialNumbers) -> Pair:
    right = 10000 ** -(np.arange(trial.sizes["D"]) / trial.sizes["D"])
    return 1 / right, right


@wrong("1-x", "1 minus the expected value")
def complement(trial: TrialNumbers) -> Pair:
    right = softmax(trial.normal("B V"))
    return 1 - right, right


@wrong("lacks-ReLU", "the ReLU is missing")
def leaky_relu(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T F")
    return np.where(x > 0, x, 0.01 * x - 0.3), np.maximum(x, 0)


@wrong("lacks-log-softmax", "the log-softmax over token is missing")
def logits_for_logarithms(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T V")
    return x, np.log(softmax(x))


@wrong("zeros", "wrong only where 0 is expected")
def padding_that_is_not_0(trial: TrialNumbers) -> Pair:
    x, real = trial.normal("B T D"), trial.mask("B T", 0.7)[..., None]
    return np.where(real, x, 1 + x), x * real


# Losses.


def losses(trial: TrialNumbers) -> Numbers:
    x = np.log(softmax(trial.normal("B T V")))
    labels = trial.random.integers(0, trial.sizes["V"], trial.of("B T"))
    return -np.take_along_axis(x, labels[..., None], -1)[..., 0]


@wrong("ratio", "= B·T")
def loss_summed(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return {"loss": right.sum()}, {"loss": right.mean()}


@wrong("ratio", "= B")
def loss_summed_over_the_batch(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return {"loss": right.mean(1).sum()}, {"loss": right.mean()}


@wrong("sign", "sign flipped")
def loss_with_the_other_sign(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return {"loss": -right.mean()}, {"loss": right.mean()}


@wrong("ratio", "= 1/ln 2")
def loss_in_bits(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return right / np.log(2), right


@wrong("is-exponential", "take its logarithm")
def perplexity_for_loss(trial: TrialNumbers) -> Pair:
    right = losses(trial).mean()
    return {"loss": np.exp(right)}, {"loss": right}


@wrong("offset", "= ln V")
def logarithm_of_the_number_of_tokens_added(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return right + np.log(trial.sizes["V"]), right


@wrong("shape-not-reduced", "its mean over batch and query is right, but is not taken")
def loss_of_every_token(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return right, right.mean()


@wrong("shape-not-reduced", "its sum over feature is right")
def product_not_summed(trial: TrialNumbers) -> Pair:
    x = trial.normal("B T K")
    return x, x.sum(-1)


@wrong("shape-square", "broadcasts to (3, 3)")
def row_against_column(trial: TrialNumbers) -> Pair:
    one, other = trial.normal("B"), trial.normal("B")
    return one[None] - other[:, None], one - other


@wrong("shape-repeated", "the right numbers, repeated along")
def row_repeated_for_every_query(trial: TrialNumbers) -> Pair:
    row = trial.normal("B T")
    return np.repeat(row[:, None], trial.sizes["T"], 1), row


@wrong("shape", "shape (3, 7, 7), expected (3, 7)")
def another_row_repeated_for_every_query(trial: TrialNumbers) -> Pair:
    yours, right = trial.normal("B T"), trial.normal("B T")
    return np.repeat(yours[:, None], trial.sizes["T"], 1), right


@wrong("ratio", "= B")
def gradient_summed_over_the_batch(trial: TrialNumbers) -> Pair:
    right = trial.normal("D V")
    return right * trial.sizes["B"], right


@wrong("zero", "0 everywhere")
def no_gradient(trial: TrialNumbers) -> Pair:
    right = trial.normal("D V")
    return right * 0, right


# Positions.


def table(trial: TrialNumbers) -> Numbers:
    rows, width = trial.sizes["N"], trial.sizes["D"] // 2 * 2
    angles = np.arange(rows)[:, None] * 10000 ** -(np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(rows, width)


@wrong("pairs", "each pair of neighbours along")
def sine_and_cosine_exchanged(trial: TrialNumbers) -> Pair:
    right = table(trial)
    return right.reshape(*right.shape[:-1], -1, 2)[..., ::-1].reshape(right.shape), right


@wrong("apart", "the even places come first, then the odd ones")
def sines_then_cosines(trial: TrialNumbers) -> Pair:
    right = table(trial)
    return np.concatenate([right[:, 0::2], right[:, 1::2]], -1), right


@wrong("together", "the two halves alternate")
def halves_alternate(trial: TrialNumbers) -> Pair:
    right = trial.normal("B N F")[..., :-1]
    half = right.shape[-1] // 2
    return np.stack([right[..., :half], right[..., half:]], -1).reshape(right.shape), right


@wrong("halves", "the two halves along axis 1 are exchanged")
def halves_exchanged(trial: TrialNumbers) -> Pair:
    right = trial.normal("N F")[:, : 2 * trial.sizes["K"]]
    return np.roll(right, right.shape[-1] // 2, -1), right


@wrong("shifted", "one place too early along position")
def positions_from_one(trial: TrialNumbers) -> Pair:
    angles = np.arange(trial.sizes["N"] + 1)[:, None] * 1.7 ** -np.arange(trial.sizes["D"])
    right = np.sin(angles)
    return right[1:], right[:-1]


@wrong("shifted", "one place too late along query")
def inputs_shifted(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return np.concatenate([right[:, :1] * 0, right[:, :-1]], 1), right


@wrong("region", "wrong at every odd")
def cosines_left_out(trial: TrialNumbers) -> Pair:
    right = trial.normal("N D")
    lost = right.copy()
    lost[:, 1::2] = 0
    return lost, right


@wrong("repeated", "every position holds what position 0 should")
def one_position_for_all(trial: TrialNumbers) -> Pair:
    right = trial.normal("N D")
    return np.broadcast_to(right[:1], right.shape), right


@wrong("region", "right up to query 2, wrong from query 3 on")
def cache_of_three(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    lost = right.copy()
    lost[:, 3:] = trial.normal("B T D")[:, 3:]
    return lost, right


@wrong("region", "right only at the last query")
def only_the_last_query(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    lost = right.copy()
    lost[:, :-1] = trial.normal("B T D")[:, :-1]
    return lost, right


@wrong("region", "wrong only at the first query")
def first_query_wrong(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    lost = right.copy()
    lost[:, 0] += 1 + trial.normal("B D")
    return lost, right


@wrong("triangle", "wrong only above the diagonal of query × key")
def future_scores_wrong(trial: TrialNumbers) -> Pair:
    right = scores(trial, "T")
    return np.where(causal(trial.sizes["T"]), right, scores(trial, "T")), right


@wrong("shape-length", "1 too few at the end of the query axis, the rest is right")
def last_query_missing(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right[:, :-1], right


@wrong("shape-length", "2 too many at the beginning of the query axis")
def two_queries_too_many(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return np.concatenate([right[:, :2] + 1, right], 1), right


@wrong("shape-no-first-axis", "only batch 0 of 3, which is right")
def first_of_the_batch_alone(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right[0], right


@wrong("shape-ones", "the values are right")
def table_without_its_first_axis(trial: TrialNumbers) -> Pair:
    right = trial.normal("N D")[None]
    return right[0], right


@wrong("shape-one-for-all", "one number for all of feature")
def mean_with_its_axis_kept(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return np.exp(right[..., :1]), right


@wrong("shape-other-axis", "it has the axis query in place of feature; shape")
def summed_over_the_wrong_axis(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T K")
    return right.sum(2), np.exp(right).sum(1)


@wrong("constant", "1 everywhere, expected different numbers")
def nothing_but_ones(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right * 0 + 1, right


@wrong("unwritten", "huge and tiny numbers")
def memory_as_it_was(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return np.where(trial.random.random(right.shape) < 0.5, 3e34, 1e-39), right


# Dropout and precision.


@wrong("dropout", "dropout is active")
def dropout_in_eval_mode(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return np.where(trial.random.random(right.shape) < 0.3, 0, right / 0.7), right


@wrong("dropout-unscaled", "the others are not rescaled")
def dropout_by_hand(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return np.where(trial.random.random(right.shape) < 0.3, 0, right), right


@wrong("precise-as-float16", "the rounding of float16")
def computed_in_float16(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right.astype(np.float16).astype(np.float64), right


@wrong("precise-as-bfloat16", "the rounding of bfloat16")
def computed_in_bfloat16(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return (right.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32), right


@wrong("near", "near, but not equal")
def approximate_formula(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right + 1e-3 * np.sin(40 * right), right


@wrong("cut", "the values are cut to whole numbers")
def table_of_integers(trial: TrialNumbers) -> Pair:
    right = 9 * trial.normal("N D")
    return np.trunc(right).astype(np.int64), right


@wrong("dtype", "its values are right")
def another_dtype(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right.astype(np.float64), right


# Nothing that could be named: the message states the plain difference.


@wrong(None, "every number differs; first at batch 0, query 0, feature 0: expected")
def other_weights(trial: TrialNumbers) -> Pair:
    return trial.normal("B T D"), trial.normal("B T D")


@wrong(None, "differs")
def mixed_by_a_matrix(trial: TrialNumbers) -> Pair:
    right = trial.normal("B T D")
    return right @ trial.normal("D D"), right


@wrong(None, "expected")
def another_loss(trial: TrialNumbers) -> Pair:
    right = losses(trial)
    return {"loss": np.sin(right).mean()}, {"loss": right.mean()}


@wrong(None, "numbers differ; first at")
def other_ids(trial: TrialNumbers) -> Pair:
    right = trial.random.integers(0, trial.sizes["V"], trial.of("B T"))
    return (right * 7 + 3) % trial.sizes["V"], right
