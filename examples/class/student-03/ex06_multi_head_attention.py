import torch
from ex05_attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model " + str(d_model) + " can't be split into " + str(num_heads) + " heads")
        self.num_heads = num_heads
        self.head_size = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, query, key, value, mask=None):
        Q = self.w_q(query)
        K = self.w_k(key)
        V = self.w_v(value)

        if mask is not None:
            # now every mask is (B, H, T, S) or has ones there
            if mask.dim() == 2:
                mask = mask[None, None]
            elif mask.dim() == 3:
                mask = mask[:, None]

        outputs = []
        all_weights = []
        for h in range(self.num_heads):
            start = h * self.head_size
            end = start + self.head_size
            head_mask = None
            if mask is not None:
                # the same mask for all heads, or one for each head
                head_mask = mask[:, 0] if mask.size(1) == 1 else mask[:, h]
            out, w = scaled_dot_product_attention(
                Q[:, :, start:end], K[:, :, start:end], V[:, :, start:end], head_mask, self.dropout
            )
            outputs.append(out)
            all_weights.append(w)

        self.attention_weights = torch.stack(all_weights, dim=1).detach()
        return self.w_o(torch.cat(outputs, dim=-1))
