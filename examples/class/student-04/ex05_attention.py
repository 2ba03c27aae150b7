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


def self_attention_by_hand(x, w_q, w_k, w_v):
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.size(-1))
    p_attn = scores.softmax(dim=-1)
    return AttentionSteps(queries, keys, values, scores, p_attn, p_attn @ values)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    "softmax(QK^T / sqrt(d_k)) V, with an optional mask"
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            # one mask for every head
            mask = mask.unsqueeze(1)
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    p_attn = scores.softmax(dim=-1)
    p_drop = p_attn
    if dropout is not None:
        p_drop = dropout(p_attn)
    return torch.matmul(p_drop, value), p_attn
