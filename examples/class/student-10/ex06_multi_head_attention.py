from ex05_attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads: raise ValueError(f"d_model {d_model}, num_heads {num_heads}")
        self.h, self.d_k = num_heads, d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        B = query.shape[0]
        q = self.w_q(query).view(B, -1, self.h, self.d_k).transpose(1, 2)
        k = self.w_k(key).view(B, -1, self.h, self.d_k).transpose(1, 2)
        v = self.w_v(value).view(B, -1, self.h, self.d_k).transpose(1, 2)
        out, w = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = w.detach()
        out = out.transpose(1, 2).view(B, -1, self.h * self.d_k)
        return self.w_o(out)
