import torch
import torch.nn as nn
from ex05_attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.d_model = d_model

        if d_model % self.num_heads != 0:
            raise ValueError("d_model = %d, num_heads = %d" % (d_model, num_heads))

        self.depth = d_model // self.num_heads

        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def split_heads(self, x):
        """(batch_size, seq_len, d_model) to (batch_size, num_heads, seq_len, depth)"""
        return torch.stack(torch.chunk(x, self.num_heads, dim=-1), dim=1)

    def forward(self, query, key, value, mask=None):
        q = self.split_heads(self.w_q(query))  # (batch_size, num_heads, seq_len_q, depth)
        k = self.split_heads(self.w_k(key))  # (batch_size, num_heads, seq_len_k, depth)
        v = self.split_heads(self.w_v(value))  # (batch_size, num_heads, seq_len_v, depth)

        scaled_attention, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = weights.detach()

        scaled_attention = scaled_attention.permute(0, 2, 1, 3)  # (batch_size, seq_len_q, num_heads, depth)
        concat_attention = torch.reshape(scaled_attention, (query.shape[0], -1, self.d_model))
        return self.w_o(concat_attention)  # (batch_size, seq_len_q, d_model)
