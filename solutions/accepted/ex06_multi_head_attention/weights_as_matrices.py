# The matrices have a head axis: w_q is (H, K, D), w_o is (D, H, K), with one product per step.
import ex05_attention
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    attention_weights: Tensor

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        if d_model % num_heads:
            raise ValueError(f"{d_model} features do not go into {num_heads} heads")
        super().__init__()
        self.num_heads = num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=name == "w_o"))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("attention_weights", torch.empty(0), persistent=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        def by_head(x: Tensor, projection: nn.Linear) -> Tensor:
            matrices = projection.weight.unflatten(0, (self.num_heads, -1))
            return torch.einsum("bsd,hkd->bhsk", x, matrices)

        heads, weights = ex05_attention.scaled_dot_product_attention(
            by_head(query, self.w_q), by_head(key, self.w_k), by_head(value, self.w_v), mask, self.dropout
        )
        self.attention_weights = weights.detach()
        matrices = self.w_o.weight.unflatten(1, (self.num_heads, -1))
        return torch.einsum("bhtk,dhk->btd", heads, matrices) + self.w_o.bias
