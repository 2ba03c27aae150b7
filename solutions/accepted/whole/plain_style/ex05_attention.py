# Attention, step by step.

import math
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


def softmax_of_row(row: Tensor) -> Tensor:
    """Return the softmax of one row, after subtracting its largest number."""
    exponentials = torch.exp(row - row.max())
    return exponentials / exponentials.sum()


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    queries = x @ w_q
    keys = x @ w_k
    values = x @ w_v
    size = w_q.shape[1]
    score_rows = []
    weight_rows = []
    output_rows = []
    for query in queries:
        row = []
        for key in keys:
            row.append((query * key).sum() / math.sqrt(size))
        scores_of_query = torch.stack(row)
        weights_of_query = softmax_of_row(scores_of_query)
        mixture = torch.zeros_like(values[0])
        for weight, value in zip(weights_of_query, values, strict=True):
            mixture = mixture + weight * value
        score_rows.append(scores_of_query)
        weight_rows.append(weights_of_query)
        output_rows.append(mixture)
    return AttentionSteps(
        queries=queries,
        keys=keys,
        values=values,
        scores=torch.stack(score_rows),
        weights=torch.stack(weight_rows),
        output=torch.stack(output_rows),
    )


def lowest(scores: Tensor) -> float:
    """Return the lowest number that fits into the dtype of the scores."""
    return torch.finfo(scores.dtype).min


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    size = query.shape[-1]
    # Dividing the query first keeps the products small enough for float16.
    scores = torch.matmul(query / math.sqrt(size), key.transpose(-2, -1))
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)
        blocked = torch.logical_not(mask)
        scores = scores.masked_fill(blocked, lowest(scores))
        weights = torch.softmax(scores, dim=-1)
        # A row with nothing to attend to has equal weights. Make it a row of zeros.
        weights = weights.masked_fill(blocked, 0.0)
    used_weights = weights
    if dropout is not None:
        used_weights = dropout(weights)
    output = torch.matmul(used_weights, value)
    return output, weights
