"""Stand-in for ex05: torch's own attention, whose output over the values 1, 0, ..., 0 and so on is the weights."""

import torch
import torch.nn.functional as F

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    if mask is not None:
        mask = mask.unsqueeze(1) if mask.dim() == 3 and query.dim() == 4 else mask
        mask = mask | ~mask.any(-1, keepdim=True)  # a row with nothing to attend to attends to all
    each = torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(query, key, each, mask)
    return (weights if dropout is None else dropout(weights)) @ value, weights
