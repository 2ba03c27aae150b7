"""Attention with a hand-written masked softmax."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    sizes = [w.size(1) for w in (w_q, w_k, w_v)]
    queries, keys, values = (x @ torch.cat((w_q, w_k, w_v), dim=1)).split(sizes, dim=1)
    scores = (queries @ keys.T).div(sizes[0] ** 0.5)
    weights = masked_softmax(scores)
    return AttentionSteps(queries, keys, values, scores, weights, weights @ values)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the softmax over the last axis: 0 where the mask is False, all 0 in a row without a True."""
    if mask is not None:
        if mask.dim() == scores.dim() - 1 == 3:
            mask = mask.unsqueeze(1)
        scores = scores.where(mask, float("-inf"))
    top = scores.detach().amax(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).min)
    powers = (scores - top).exp()
    # A sum is 0 or at least 1, so it never equals this bound, where the gradient of clamp depends on the torch version.
    return powers / powers.sum(-1, keepdim=True).clamp_min(0.5)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    root = query.size(-1) ** -0.25
    weights = masked_softmax((query * root) @ (key * root).mT, mask)
    return (dropout or nn.Identity())(weights) @ value, weights
