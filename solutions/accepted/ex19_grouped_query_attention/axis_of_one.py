# Queries as (B, G, M, T, K) against keys with an axis of one: broadcasting serves the group, softmax by hand.
import math

import torch
from torch import nn


def repeat_kv(x, groups):
    index = torch.arange(x.size(1) * groups, device=x.device) // groups
    return x[:, index]


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, rope=None):
        if num_kv_heads is None:
            num_kv_heads = num_heads
        assert d_model % num_heads == 0, f"{num_heads} heads do not divide {d_model} features"
        assert num_heads % num_kv_heads == 0, f"{num_kv_heads} key-value heads do not divide {num_heads} heads"
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        for name, width in (("q", num_heads), ("k", num_kv_heads), ("v", num_kv_heads)):
            setattr(self, f"{name}_proj", nn.Linear(d_model, width * self.head_dim, bias=False))
        self.output_proj = nn.Linear(d_model, d_model, bias=False)
        self.rope = rope

    def forward(self, x, mask=None, token_positions=None, cache=None):
        B, T, D = x.shape
        past = 0 if cache is None else cache.length
        q = self.q_proj(x).view(B, T, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        k = self.k_proj(x).view(B, T, self.num_kv_heads, self.head_dim).permute(0, 2, 1, 3)
        v = self.v_proj(x).view(B, T, self.num_kv_heads, self.head_dim).permute(0, 2, 1, 3)
        if self.rope is not None:
            positions = token_positions
            if positions is None:
                positions = torch.tensor(list(range(past, past + T)), device=x.device)
            q = self.rope(q, token_positions=positions)
            k = self.rope(k, token_positions=positions)
        if cache is not None:
            k, v = cache.update(k, v)
        S = k.size(2)
        q = q.reshape(B, self.num_kv_heads, -1, T, self.head_dim)
        scores = q @ k.unsqueeze(2).transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, G, M, T, S)
        scores = scores.reshape(B, self.num_heads, T, S)
        future = torch.ones(T, S, device=x.device).triu(1 + S - T).bool()
        scores = scores.masked_fill(future, torch.finfo(scores.dtype).min)
        if mask is not None:
            scores = scores.masked_fill((~mask)[:, None] if mask.dim() == 3 else ~mask, torch.finfo(scores.dtype).min)
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        weights = powers / powers.sum(-1, keepdim=True)
        self.attention_weights = weights.detach()
        heads = weights.reshape(B, self.num_kv_heads, -1, T, S) @ v.unsqueeze(2)
        return self.output_proj(heads.reshape(B, self.num_heads, T, -1).transpose(1, 2).reshape(B, T, D))
