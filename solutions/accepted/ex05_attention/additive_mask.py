# An additive mask with half the lowest number of the dtype, so the sum cannot overflow. The scale is float32.
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor
    note: str = "a field more than was asked for"


@dataclass(frozen=True)
class Projections:
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return functional.linear(x, self.w_q.T), functional.linear(x, self.w_k.T), functional.linear(x, self.w_v.T)


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    queries, keys, values = Projections(w_q, w_k, w_v)(x)
    scores = queries @ keys.T / torch.tensor(keys.shape[-1], device=x.device).sqrt()
    weights = functional.softmax(scores, dim=-1)
    return AttentionSteps(queries, keys, values, scores, weights, weights @ values)


def additive(mask: Tensor, like: Tensor) -> Tensor:
    """Return 0 where the mask allows, a very low number elsewhere."""
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(~mask, torch.finfo(like.dtype).min / 2)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1)
    scores = scores / torch.sqrt(torch.tensor(query.size(-1), device=scores.device))
    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(-3)
        scores = scores + additive(mask, scores)
    weights = functional.softmax(scores, dim=-1)
    return (weights if dropout is None else dropout(weights)) @ value, weights
