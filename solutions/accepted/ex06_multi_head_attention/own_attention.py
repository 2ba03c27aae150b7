# Without ex05: einsum over a head axis that is never moved next to the batch.
import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is no multiple of num_heads={num_heads}")
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.H = num_heads

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = (
            w(x).reshape(x.size(0), x.size(1), self.H, -1)
            for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        scores = torch.einsum("bthk,bshk->bhts", q, k) / math.sqrt(q.size(-1))
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        self.attention_weights = weights.detach().clone()
        mixed = torch.einsum("bhts,bshk->bthk", self.dropout(weights), v)
        return self.w_o(mixed.reshape(query.shape))
