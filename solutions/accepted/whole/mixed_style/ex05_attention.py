from typing import NamedTuple

import torch
from torch import Tensor, einsum, nn


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor


def _softmax(scores: Tensor) -> Tensor:
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    sizes = [w.size(-1) for w in (w_q, w_k, w_v)]
    queries, keys, values = (x @ torch.cat((w_q, w_k, w_v), dim=-1)).split(sizes, dim=-1)
    scaled = queries * sizes[0] ** -0.5
    scores = einsum("tk,sk->ts", scaled, keys)
    weights = _softmax(scores)
    output = einsum("ts,sv->tv", weights, values)
    return AttentionSteps(queries, keys, values, scores, weights, output)


def _head_axis(mask: Tensor, ndim: int) -> Tensor:
    return mask.unsqueeze(1) if (mask.dim(), ndim) == (3, 4) else mask


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    # the query is scaled before the product: in float16 the raw scores may overflow
    scores = einsum("...tk,...sk->...ts", query * query.size(-1) ** -0.5, key)
    if mask is not None:
        blocked = ~_head_axis(mask, scores.dim())
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    used = weights if dropout is None else dropout(weights)
    return einsum("...ts,...sv->...tv", used, value), weights
