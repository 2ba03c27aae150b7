# The scores have their keys first, so dropout draws other weights than in the reference solution.
import math
from typing import NamedTuple

import torch
from torch import Tensor


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor


def softmax_over_keys(scores: Tensor) -> Tensor:
    """Return the weights (S, T) of scores (S, T): those of each query sum to 1."""
    return torch.softmax(scores, dim=-2)


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    scores = keys @ queries.T / math.sqrt(keys.size(-1))
    weights = softmax_over_keys(scores)
    return AttentionSteps(queries, keys, values, scores.T, weights.T, weights.T @ values)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = key @ query.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)
        scores = scores.masked_fill(~mask.transpose(-2, -1), torch.finfo(scores.dtype).min)
    weights = softmax_over_keys(scores)
    kept = weights if dropout is None else dropout(weights)
    return kept.transpose(-2, -1) @ value, weights.transpose(-2, -1)
