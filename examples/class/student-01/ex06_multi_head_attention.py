from ex05_attention import scaled_dot_product_attention as attention
from torch import einsum, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model=} is no multiple of {num_heads=}")
        self.h = num_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model, bias=False) for _ in "qkv")
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, query, key, value, mask=None):
        # rows h*K ... of a weight make head h, so split the weights and not the vectors
        q, k, v = (
            einsum("btd,hkd->bhtk", x, w.weight.unflatten(0, (self.h, -1)))
            for x, w in ((query, self.w_q), (key, self.w_k), (value, self.w_v))
        )
        out, a = attention(q, k, v, mask, self.dropout)
        self.attention_weights = a.detach()
        return einsum("bhtk,dhk->btd", out, self.w_o.weight.unflatten(1, (self.h, -1))) + self.w_o.bias
