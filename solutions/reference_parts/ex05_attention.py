"""Reference part for ex05: weights as exponentials of scores less their logsumexp, in float32 at least.

A row with nothing to attend to attends to everything, so it stays finite.
"""

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = torch.matmul(query.to(wide).mul(key.size(-1) ** -0.5), key.to(wide).mT)
    if mask is not None:
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)
        allowed = mask.any(-1, keepdim=True).logical_not().logical_or(mask)
        scores = torch.where(allowed, scores, -math.inf)
    shares = scores.sub(scores.logsumexp(-1, keepdim=True)).exp().to(query.dtype)
    if dropout is None:
        return torch.matmul(shares, value), shares
    return torch.matmul(dropout(shares), value), shares
