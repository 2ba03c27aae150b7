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


def stable_softmax(scores):
    biggest = scores.max(dim=-1, keepdim=True)[0]
    powers = torch.exp(scores - biggest)
    return powers / powers.sum(dim=-1, keepdim=True)


def self_attention_by_hand(x, w_q, w_k, w_v):
    queries = x.matmul(w_q)
    keys = x.matmul(w_k)
    values = x.matmul(w_v)
    size = keys.size(-1)
    scores = queries.matmul(keys.t()) / size**0.5
    weights = stable_softmax(scores)
    output = weights.matmul(values)
    return AttentionSteps(queries, keys, values, scores, weights, output)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    size = key.size(-1)
    scores = query.matmul(key.transpose(-1, -2)) / size**0.5
    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)
        # the smallest number there is, also for float16
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = stable_softmax(scores)
    if dropout is None:
        return weights.matmul(value), weights
    return dropout(weights).matmul(value), weights
