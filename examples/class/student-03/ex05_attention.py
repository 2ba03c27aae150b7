import math
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


def softmax(row):
    e = torch.exp(row - row.max())
    return e / e.sum()


def self_attention_by_hand(x, w_q, w_k, w_v):
    queries = x @ w_q
    keys = x @ w_k
    values = x @ w_v
    T = x.shape[0]
    d_k = w_k.shape[1]

    scores = torch.zeros(T, T)
    for i in range(T):
        for j in range(T):
            scores[i, j] = torch.dot(queries[i], keys[j]) / math.sqrt(d_k)

    weights = torch.zeros(T, T)
    for i in range(T):
        weights[i] = softmax(scores[i])

    output = torch.zeros(T, w_v.shape[1])
    for i in range(T):
        for j in range(T):
            output[i] += weights[i, j] * values[j]

    return AttentionSteps(queries, keys, values, scores, weights, output)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    # same as above but with the batch, so matmul and not loops
    scores = torch.matmul(query, key.transpose(-1, -2))  # (..., T, S)

    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)  # heads
        scores = scores.masked_fill(torch.logical_not(mask), torch.finfo(scores.dtype).min)

    weights = torch.softmax(scores, dim=-1)

    if dropout is not None:
        output = torch.matmul(dropout(weights), value)
    else:
        output = torch.matmul(weights, value)
    return output, weights
