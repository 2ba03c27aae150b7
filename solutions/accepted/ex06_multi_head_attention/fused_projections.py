# One matrix for queries, keys and values, filled by from_reference.
import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        head_size, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        self.heads = (num_heads, head_size)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(p=dropout)
        self.attention_weights = None

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state[f"w_{each}.weight"] for each in "qkv"]))
            self.w_o.weight.copy_(state["w_o.weight"])
            self.w_o.bias.copy_(state["w_o.bias"])

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        parts = zip((query, key, value), self.qkv.weight.chunk(3), strict=True)
        q, k, v = (nn.functional.linear(x, w).unflatten(-1, self.heads).transpose(1, 2) for x, w in parts)
        output, weights = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.dropout)
        self.attention_weights = weights.detach()
        return self.w_o(output.transpose(1, 2).reshape(query.shape))
