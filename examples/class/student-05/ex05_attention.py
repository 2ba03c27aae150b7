import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn, Tensor


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    w = F.softmax(att, dim=-1)
    return AttentionSteps(q, k, v, att, w, w @ v)


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask=None, dropout=None):
    att = (query @ key.transpose(-2, -1)) * (1.0 / math.sqrt(key.size(-1)))
    if mask is not None:
        if mask.dim() == 3 and att.dim() == 4:
            mask = mask.unsqueeze(1)
        att = att.masked_fill(mask == 0, torch.finfo(att.dtype).min)
    att = F.softmax(att, dim=-1)
    y = (dropout(att) if dropout is not None else att) @ value
    return y, att
