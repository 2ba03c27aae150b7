from torch import nn, Tensor

from ex05_attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f'd_model={d_model} must be divisible by num_heads={num_heads}')
        self.n_head = num_heads
        # one matrix holds the projections of all heads
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask=None) -> Tensor:
        B, T, C = query.size()
        S = key.size(1)
        hs = C // self.n_head

        q = self.w_q(query).view(B, T, self.n_head, hs).transpose(1, 2)  # (B, nh, T, hs)
        k = self.w_k(key).view(B, S, self.n_head, hs).transpose(1, 2)  # (B, nh, S, hs)
        v = self.w_v(value).view(B, S, self.n_head, hs).transpose(1, 2)  # (B, nh, S, hs)

        y, att = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = att.detach()
        y = y.transpose(1, 2).contiguous().view(B, T, C)  # heads next to each other again
        return self.w_o(y)
