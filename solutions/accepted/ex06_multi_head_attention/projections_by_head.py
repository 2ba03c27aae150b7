# Every head is a module with its own matrices, filled by from_reference.
import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


class Head(nn.Module):
    def __init__(self, d_model: int, size: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, size, bias=False)
        self.key = nn.Linear(d_model, size, bias=False)
        self.value = nn.Linear(d_model, size, bias=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.query(query), self.key(key), self.value(value)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model}, num_heads {num_heads}: the division leaves {d_model % num_heads}")
        self.heads = nn.ModuleList(Head(d_model, d_model // num_heads) for _ in range(num_heads))
        self.mix = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        H = len(self.heads)
        blocks = zip(*(state[f"w_{each}.weight"].chunk(H) for each in "qkv"), strict=True)
        for head, (w_q, w_k, w_v) in zip(self.heads, blocks, strict=True):
            head.load_state_dict({"query.weight": w_q, "key.weight": w_k, "value.weight": w_v})
        self.mix.load_state_dict({"weight": state["w_o.weight"], "bias": state["w_o.bias"]})

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        projected = [head(query, key, value) for head in self.heads]
        q, k, v = (torch.stack(each, dim=1) for each in zip(*projected, strict=True))
        output, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        with torch.no_grad():
            self.attention_weights = weights.detach()
        return self.mix(output.permute(0, 2, 1, 3).flatten(start_dim=-2))
