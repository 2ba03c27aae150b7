"""Multi-head attention: the heads are axes of the weights."""

import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model = {d_model} is not a multiple of num_heads = {num_heads}")
        self.heads = num_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model, bias=False) for _ in "qkv")
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = (
            torch.einsum("btd,hkd->bhtk", x, w.weight.unflatten(0, (self.heads, -1)))
            for x, w in ((query, self.w_q), (key, self.w_k), (value, self.w_v))
        )
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = weights.detach()
        return torch.einsum("bhtk,dhk->btd", mixed, self.w_o.weight.unflatten(1, (self.heads, -1))) + self.w_o.bias
