from typing import NamedTuple

import numpy as np
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
    q = torch.mm(x, w_q)
    k = torch.mm(x, w_k)
    v = torch.mm(x, w_v)
    dk = float(k.shape[-1])
    scaled_attention_logits = torch.mm(q, k.t()) / np.sqrt(dk)
    attention_weights = torch.softmax(scaled_attention_logits, dim=1)
    output = torch.mm(attention_weights, v)
    return AttentionSteps(q, k, v, scaled_attention_logits, attention_weights, output)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    matmul_qk = torch.matmul(query, torch.swapaxes(key, -1, -2))  # (..., seq_len_q, seq_len_k)

    # divide by the root of the key size
    dk = float(key.shape[-1])
    scaled_attention_logits = matmul_qk / np.sqrt(dk)

    # the mask goes in before the softmax
    if mask is not None:
        if mask.dim() == 3 and scaled_attention_logits.dim() == 4:
            mask = mask[:, np.newaxis, :, :]
        minimum = torch.finfo(scaled_attention_logits.dtype).min
        scaled_attention_logits = scaled_attention_logits.masked_fill(mask, minimum)

    # softmax, the weights have to add up to 1
    attention_weights = torch.softmax(scaled_attention_logits, dim=-2)

    dropped = attention_weights if dropout is None else dropout(attention_weights)
    output = torch.matmul(dropped, value)  # (..., seq_len_q, depth_v)
    return output, attention_weights
