"""Attention in two einsums, its mask an additive bias."""

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
    q, k, v = (torch.einsum("td,dk->tk", x, w) for w in (w_q, w_k, w_v))
    scores = torch.einsum("tk,sk->ts", q, k) / k.size(-1) ** 0.5
    weights = scores.softmax(-1)
    return AttentionSteps(q, k, v, scores, weights, torch.einsum("ts,sk->tk", weights, v))


def mask_bias(mask: Tensor, scores: Tensor) -> Tensor:
    """Return 0 where attention is allowed and -inf elsewhere. Leave a fully blocked row unchanged."""
    mask = mask[:, None] if mask.ndim == 3 and scores.ndim == 4 else mask
    free = mask | ~mask.any(-1, keepdim=True)
    return torch.zeros(free.shape, dtype=scores.dtype, device=scores.device).masked_fill(~free, float("-inf"))


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...tk,...sk->...ts", query * query.size(-1) ** -0.5, key)
    weights = (scores if mask is None else scores + mask_bias(mask, scores)).softmax(-1)
    return torch.einsum("...ts,...sk->...tk", weights if dropout is None else dropout(weights), value), weights
