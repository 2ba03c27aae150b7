"""Reference part for ex06: every projection is one product with the weights cut by heads."""

import torch
from ex05_attention import scaled_dot_product_attention
from torch import nn


def _cut(x, linear, heads):
    return torch.einsum("bti,hki->bhtk", x, linear.weight.unflatten(0, (heads, -1)))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        self.heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, query, key, value, mask=None):
        asks = _cut(query, self.w_q, self.heads)
        answers = _cut(key, self.w_k, self.heads)
        gives = _cut(value, self.w_v, self.heads)
        mixed, shares = scaled_dot_product_attention(asks, answers, gives, mask, self.dropout)
        self.attention_weights = shares.detach()
        back = self.w_o.weight.unflatten(1, (self.heads, -1))
        return torch.einsum("bhtk,ohk->bto", mixed, back).add(self.w_o.bias)
