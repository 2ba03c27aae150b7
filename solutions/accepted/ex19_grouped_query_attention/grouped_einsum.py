# Grouped einsum over (B, G, M, T, K): keys and values are never repeated.
import torch
from torch import Tensor, nn


def repeat_kv(x: Tensor, groups: int) -> Tensor:
    B, G, S, K = x.shape
    return x[:, :, None].expand(B, G, groups, S, K).reshape(B, G * groups, S, K)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, rope=None):
        super().__init__()
        num_kv_heads = num_kv_heads or num_heads
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads and {num_kv_heads} key-value heads do not fit")
        self.num_heads, self.num_kv_heads, self.rope = num_heads, num_kv_heads, rope
        self.K = d_model // num_heads
        self.q_proj = nn.Linear(d_model, num_heads * self.K, bias=False)
        self.k_proj = nn.Linear(d_model, num_kv_heads * self.K, bias=False)
        self.v_proj = nn.Linear(d_model, num_kv_heads * self.K, bias=False)
        self.output_proj = nn.Linear(num_heads * self.K, d_model, bias=False)

    def forward(self, x, mask=None, token_positions=None, cache=None):
        B, T, _ = x.shape
        G, M = self.num_kv_heads, self.num_heads // self.num_kv_heads
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (project(x).unflatten(-1, (-1, self.K)).transpose(1, 2) for project in projections)
        if self.rope:
            if token_positions is None and cache is not None:
                token_positions = cache.length + torch.arange(T, device=x.device)
            q, k = self.rope(q, token_positions), self.rope(k, token_positions)
        if cache is not None:
            k, v = cache.update(k, v)
        S = k.shape[2]
        q = q.unflatten(1, (G, M))
        scores = torch.einsum("bgmtk,bgsk->bgmts", q, k) * self.K**-0.5
        rows = torch.arange(S - T, S, device=x.device)
        blocked = torch.arange(S, device=x.device) > rows[:, None]
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            blocked = blocked | ~mask
        blocked = blocked.expand(B, self.num_heads, T, S).unflatten(1, (G, M))
        weights = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(dim=-1)
        self.attention_weights = weights.detach().flatten(1, 2)
        mixed = torch.einsum("bgmts,bgsk->btgmk", weights, v)
        return self.output_proj(mixed.reshape(B, T, -1))
