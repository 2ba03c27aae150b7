# A loop over the heads, each with its slice of the columns, then concatenation.
import torch
from ex05_attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        assert d_model % num_heads == 0, "the heads cannot share the features evenly"
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        outputs, weights = [], []
        for h in range(self.num_heads):
            own = slice(h * self.d_k, (h + 1) * self.d_k)
            output, weight = scaled_dot_product_attention(
                q[..., own], k[..., own], v[..., own], self.mask_of_head(mask, h), self.dropout
            )
            outputs.append(output)
            weights.append(weight)
        self.attention_weights = torch.stack(weights, dim=1).detach()
        return self.w_o(torch.cat(outputs, dim=-1))

    @staticmethod
    def mask_of_head(mask, h):
        if mask is None or mask.dim() < 4:
            return mask
        return mask[:, h if mask.size(1) > 1 else 0]
