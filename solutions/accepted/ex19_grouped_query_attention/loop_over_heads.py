# A loop over the query heads: each slices its key-value head, and the mask is built row by row.
import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


def repeat_kv(x: Tensor, groups: int) -> Tensor:
    return torch.cat([x[:, g : g + 1] for g in range(x.size(1)) for _ in range(groups)], dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int | None = None, rope: nn.Module | None = None
    ) -> None:
        super().__init__()
        if num_kv_heads is None:
            num_kv_heads = num_heads
        for large, small in ((d_model, num_heads), (num_heads, num_kv_heads)):
            if large % small != 0:
                raise ValueError(f"{small} does not divide {large}")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.rope = rope
        self.head_size = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, num_kv_heads * self.head_size, bias=False)
        self.v_proj = nn.Linear(d_model, num_kv_heads * self.head_size, bias=False)
        self.output_proj = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("attention_weights", None, persistent=False)

    def turned(self, heads: Tensor, positions: Tensor) -> Tensor:
        return heads if self.rope is None else self.rope(heads, positions)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, token_positions: Tensor | None = None, cache: object = None
    ) -> Tensor:
        positions = token_positions
        if positions is None:
            positions = torch.arange(x.size(1), device=x.device)
            if cache is not None:
                positions = positions + cache.length
        queries = torch.stack(self.q_proj(x).split(self.head_size, dim=-1), dim=1)
        keys = torch.stack(self.k_proj(x).split(self.head_size, dim=-1), dim=1)
        values = torch.stack(self.v_proj(x).split(self.head_size, dim=-1), dim=1)
        queries, keys = self.turned(queries, positions), self.turned(keys, positions)
        if cache is not None:
            keys, values = cache.update(keys, values)
        T, S = queries.size(2), keys.size(2)
        sees = torch.zeros(T, S, dtype=torch.bool, device=x.device)
        for row in range(T):
            sees[row, : S - T + row + 1] = True
        outputs, weights = [], []
        for h in range(self.num_heads):
            shared = h // (self.num_heads // self.num_kv_heads)
            own = sees
            if mask is not None:
                own = sees & (mask[:, h % mask.size(1)] if mask.dim() == 4 else mask)
            output, weight = scaled_dot_product_attention(queries[:, h], keys[:, shared], values[:, shared], own)
            outputs.append(output)
            weights.append(weight)
        self.attention_weights = torch.stack(weights, dim=1).detach()
        return self.output_proj(torch.cat(outputs, dim=-1))
