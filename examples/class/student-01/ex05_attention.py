from typing import NamedTuple

import torch
from torch import Tensor, einsum


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor


def self_attention_by_hand(x, w_q, w_k, w_v):
    q, k, v = (x @ w for w in (w_q, w_k, w_v))
    s = q @ k.T * k.shape[1] ** -0.5
    a = (s - s.logsumexp(1, keepdim=True)).exp()
    return AttentionSteps(q, k, v, s, a, a @ v)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    s = einsum("...tk,...sk->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is not None:
        mask = mask[:, None] if mask.ndim == 3 < s.ndim else mask
        s = torch.where(mask, s, torch.finfo(s.dtype).min)
    a = s.softmax(-1)
    return einsum("...ts,...sv->...tv", dropout(a) if dropout else a, value), a
