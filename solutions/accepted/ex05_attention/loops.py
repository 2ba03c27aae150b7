# One query at a time, in Python loops over the flattened leading axes.
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


def scores_of(query: Tensor, keys: Tensor) -> Tensor:
    """Return the scores (S,) of one query (K,) with every key (S, K)."""
    return torch.stack([torch.dot(query, key) for key in keys]) / len(query) ** 0.5


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    queries = torch.stack([token @ w_q for token in x])
    keys = torch.stack([token @ w_k for token in x])
    values = torch.stack([token @ w_v for token in x])
    scores = torch.stack([scores_of(query, keys) for query in queries])
    weights = torch.stack([(row - row.logsumexp(dim=0)).exp() for row in scores])
    output = torch.stack([(row.unsqueeze(-1) * values).sum(0) for row in weights])
    return AttentionSteps(queries, keys, values, scores, weights, output)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    leading, T, S = query.shape[:-2], query.shape[-2], key.shape[-2]
    if mask is not None:
        if mask.dim() == 3 and query.dim() == 4:
            mask = mask.unsqueeze(1)
        mask = mask.expand(*leading, T, S).reshape(-1, T, S)
    matrices = []
    pairs = zip(query.reshape(-1, T, query.shape[-1]), key.reshape(-1, S, key.shape[-1]), strict=True)
    for i, (queries, keys) in enumerate(pairs):
        rows = []
        for t in range(T):
            row = scores_of(queries[t], keys)
            if mask is not None:
                row = row.masked_fill(mask[i, t].logical_not(), torch.finfo(row.dtype).min)
            rows.append(torch.softmax(row, dim=0))
        matrices.append(torch.stack(rows))
    weights = torch.stack(matrices).reshape(*leading, T, S)
    dropped = weights if dropout is None else dropout(weights)
    return dropped @ value, weights
