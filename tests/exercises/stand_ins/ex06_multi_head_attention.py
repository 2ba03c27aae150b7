"""Stand-in for ex06, by torch.nn.MultiheadAttention."""

import torch
from torch import nn

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features cannot be shared out to {num_heads} heads")
        self.heads = nn.MultiheadAttention(d_model, num_heads, dropout, batch_first=True)
        self.heads.in_proj_bias.requires_grad_(False)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def from_reference(self, state):
        self.heads.in_proj_weight.copy_(torch.cat([state[f"w_{each}.weight"] for each in "qkv"]))
        self.heads.in_proj_bias.zero_()
        self.heads.out_proj.weight.copy_(state["w_o.weight"])
        self.heads.out_proj.bias.copy_(state["w_o.bias"])

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = blocked(mask, query, key, self.heads.num_heads)
        output, weights = self.heads(query, key, value, attn_mask=mask, average_attn_weights=False)
        self.attention_weights = weights.detach()
        return output


def blocked(mask, query, key, heads):
    """Return the mask as torch.nn wants it: (B * H, T, S), True where attention is blocked, nowhere for a whole row."""
    mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
    mask = (mask | ~mask.any(-1, keepdim=True)).expand(query.size(0), heads, query.size(1), key.size(1))
    return mask.logical_not().flatten(0, 1)
