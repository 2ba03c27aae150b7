# Part 6: multi-head attention

from typing import Optional

import torch
import torch.nn as nn
from ex05_attention import scaled_dot_product_attention
from torch import Tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        # every head must get the same number of features
        assert d_model % num_heads == 0, f"d_model ({d_model}) is not divisible by num_heads ({num_heads})"
        # this many features for each head
        self.d_k = d_model // num_heads

        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        # (batch, seq_len, d_model) -> (batch, seq_len, d_model)
        q = self.w_q(query)
        k = self.w_k(key)
        v = self.w_v(value)

        # (batch, seq_len, d_model) -> (batch, seq_len, h, d_k) -> (batch, h, seq_len, d_k)
        q = q.view(q.shape[0], q.shape[1], self.num_heads, self.d_k).transpose(1, 2)
        k = k.view(k.shape[0], k.shape[1], self.num_heads, self.d_k).transpose(1, 2)
        v = v.view(v.shape[0], v.shape[1], self.num_heads, self.d_k).transpose(1, 2)

        x, attention_weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = attention_weights.detach()

        # put the heads together again
        # (batch, h, seq_len, d_k) -> (batch, seq_len, h, d_k) -> (batch, seq_len, d_model)
        x = x.transpose(1, 2).contiguous().view(x.shape[0], -1, self.num_heads * self.d_k)

        return self.w_o(x)
