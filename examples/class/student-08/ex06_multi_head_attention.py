import torch
from ex05_attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super(MultiHeadAttention, self).__init__()
        if d_model % num_heads != 0:
            message = "d_model is {} and num_heads is {}, this does not work".format(d_model, num_heads)
            raise ValueError(message)
        self.num_heads = num_heads
        self.head_size = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def split(self, x):
        heads = x.split(self.head_size, dim=-1)
        return torch.stack(heads, dim=1)

    def forward(self, query, key, value, mask=None):
        queries = self.split(self.w_q(query))
        keys = self.split(self.w_k(key))
        values = self.split(self.w_v(value))
        output, weights = scaled_dot_product_attention(queries, keys, values, mask, self.dropout)
        self.attention_weights = weights.detach()
        # side by side again
        joined = torch.cat(output.unbind(dim=1), dim=-1)
        return self.w_o(joined)
