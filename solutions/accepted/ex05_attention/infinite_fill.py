# Blocked scores are -inf. A full row is repaired after the softmax, and masked_fill keeps NaN out of the gradients.
import collections
import math

import torch

AttentionSteps = collections.namedtuple("AttentionSteps", "queries keys values scores weights output")


def self_attention_by_hand(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.t() / math.sqrt(k.shape[1])
    weights = torch.softmax(scores, dim=1)
    return AttentionSteps(q, k, v, scores, weights, weights @ v)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.mT) / math.sqrt(query.shape[-1])
    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    output = torch.matmul(dropout(weights) if dropout else weights, value)
    return output, weights
