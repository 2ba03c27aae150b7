import math
import torch
from torch import nn, Tensor
from typing import NamedTuple


class AttentionSteps(NamedTuple):
    queries: Tensor  # (T, K)
    keys: Tensor  # (T, K)
    values: Tensor  # (T, Kv)
    scores: Tensor  # (T, T), already divided by the square root of K
    weights: Tensor  # (T, T)
    output: Tensor  # (T, Kv)


def self_attention_by_hand(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    s = q @ k.T / math.sqrt(k.shape[1])
    e = (s - s.max(1, keepdim=True)[0]).exp()
    w = e / e.sum(1, keepdim=True)
    return AttentionSteps(q, k, v, s, w, w @ v)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    s = query @ key.mT / math.sqrt(key.shape[-1])
    if mask is not None:
        if mask.ndim == 3 and s.ndim == 4: mask = mask[:, None]
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    w = s.softmax(-1)
    return (dropout(w) if dropout else w) @ value, w
