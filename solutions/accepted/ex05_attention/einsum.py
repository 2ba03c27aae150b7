# Einsum everywhere, a mask with `where`, and the general function for the version by hand.
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


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    return torch.einsum("...tk,...sk->...ts", query, key) * query.shape[-1] ** -0.5


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    queries, keys, values = (torch.einsum("td,dk->tk", x, each) for each in (w_q, w_k, w_v))
    output, weights = scaled_dot_product_attention(queries, keys, values)
    return AttentionSteps(queries, keys, values, attention_scores(queries, keys), weights, output)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    scores = attention_scores(query, key)
    if mask is not None:
        if (mask.ndim, scores.ndim) == (3, 4):
            mask = mask[:, None]
        lowest = torch.full((), torch.finfo(scores.dtype).min, dtype=scores.dtype, device=scores.device)
        scores = torch.where(mask, scores, lowest)
    weights = scores.softmax(-1)
    dropped = weights if dropout is None else dropout(weights)
    return torch.einsum("...ts,...sv->...tv", dropped, value), weights
