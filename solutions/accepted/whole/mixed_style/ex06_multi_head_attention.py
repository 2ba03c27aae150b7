import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not a multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        self.w_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None

    def from_reference(self, state: dict[str, Tensor]) -> None:
        fused = torch.cat([state[f"w_{n}.weight"] for n in "qkv"])
        self.w_qkv.load_state_dict({"weight": fused})
        self.w_o.load_state_dict({n: state[f"w_o.{n}"] for n in ("weight", "bias")})

    def _heads(self, x: Tensor, weight: Tensor) -> Tensor:
        return torch.einsum("bnd,hkd->bhnk", x, weight.unflatten(0, (self.num_heads, -1)))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = map(self._heads, (query, key, value), self.w_qkv.weight.chunk(3))
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = weights.detach()
        merged = out.transpose(1, 2).flatten(2)
        return self.w_o(merged)
