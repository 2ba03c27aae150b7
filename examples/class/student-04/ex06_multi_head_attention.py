import torch.nn as nn
from ex05_attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super(MultiHeadAttention, self).__init__()
        assert d_model % num_heads == 0, (d_model, num_heads)
        # keys and values have the same size
        self.d_k = d_model // num_heads
        self.h = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.attention_weights = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        nbatches = query.size(0)

        # 1) project, then d_model -> h x d_k
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value))
        ]

        # 2) attention in all heads at once
        x, attn = scaled_dot_product_attention(query, key, value, mask=mask, dropout=self.dropout)
        self.attention_weights = attn.detach()

        # 3) concat the heads with a view, then the last linear layer
        x = x.contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.w_o(x)
