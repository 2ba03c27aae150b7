# Multi-head attention, one head after the other.

import ex05_attention
import torch
from ex04_masks import with_head_axis
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} features cannot be shared out evenly to {num_heads} heads.")
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_size = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def columns_of_head(self, x: Tensor, head: int) -> Tensor:
        """Return the columns of one head: (B, T, D) becomes (B, T, K)."""
        first = head * self.head_size
        return x[:, :, first : first + self.head_size]

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        queries = self.w_q(query)
        keys = self.w_k(key)
        values = self.w_v(value)
        if mask is not None:
            shape = (query.shape[0], self.num_heads, query.shape[1], key.shape[1])
            mask = with_head_axis(mask).expand(shape)
        outputs = []
        weights = []
        for head in range(self.num_heads):
            mask_of_head = None
            if mask is not None:
                mask_of_head = mask[:, head]
            output_of_head, weights_of_head = ex05_attention.scaled_dot_product_attention(
                self.columns_of_head(queries, head),
                self.columns_of_head(keys, head),
                self.columns_of_head(values, head),
                mask=mask_of_head,
                dropout=self.dropout,
            )
            outputs.append(output_of_head)
            weights.append(weights_of_head)
        self.attention_weights = torch.stack(weights, dim=1).detach()
        side_by_side = torch.cat(outputs, dim=-1)
        return self.w_o(side_by_side)
