# A hand-written softmax: subtract the largest allowed score, set blocked exponentials to 0; an empty row gives 0.
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


def masked_softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    """Return the softmax over the allowed scores of the last axis, or zeros if there are none."""
    lowest = torch.finfo(scores.dtype).min
    largest = scores.masked_fill(~allowed, lowest).amax(dim=-1, keepdim=True)
    powers = torch.exp((scores - largest).masked_fill(~allowed, 0.0)) * allowed
    total = powers.sum(dim=-1, keepdim=True)
    return powers / torch.where(total > 0, total, torch.ones_like(total))


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    queries, keys, values = x.mm(w_q), x.mm(w_k), x.mm(w_v)
    scores = queries.mm(keys.T).div(keys.shape[-1] ** 0.5)
    weights = masked_softmax(scores, torch.ones_like(scores, dtype=torch.bool))
    return AttentionSteps(queries, keys, values, scores=scores, weights=weights, output=weights.mm(values))


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query * query.shape[-1] ** -0.5, key.transpose(-1, -2))
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    elif mask.dim() == 3 and scores.dim() == 4:
        mask = mask.unsqueeze(1)
    weights = masked_softmax(scores, mask.expand_as(scores))
    dropped = dropout(weights) if dropout is not None else weights
    return torch.matmul(dropped, value), weights
