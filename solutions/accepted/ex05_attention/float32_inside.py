# Compute half precision in float32 and cast back. Use log-probabilities, and scale both query and key.
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


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    together = x @ torch.cat([w_q, w_k, w_v], dim=1)
    queries, keys, values = together.split([w_q.shape[1], w_k.shape[1], w_v.shape[1]], dim=1)
    scores = torch.addmm(x.new_zeros(len(x), len(x)), queries, keys.T, alpha=queries.shape[1] ** -0.5)
    weights = torch.log_softmax(scores, dim=-1).exp()
    return AttentionSteps(queries, keys, values, scores, weights, weights @ values)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    dtype = query.dtype
    wide = torch.promote_types(dtype, torch.float32)
    root = query.shape[-1] ** 0.25
    scores = (query.to(wide) / root) @ (key.to(wide) / root).transpose(-2, -1)
    if mask is not None:
        allowed = mask.unsqueeze(1) if mask.dim() == 3 and scores.dim() == 4 else mask
        scores = scores.masked_fill(allowed.logical_not(), -1e30)
    weights = torch.log_softmax(scores, dim=-1).exp()
    dropped = weights if dropout is None else dropout(weights)
    return (dropped @ value.to(wide)).to(dtype), weights.to(dtype)
