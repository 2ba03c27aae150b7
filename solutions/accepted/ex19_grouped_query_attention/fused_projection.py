# One matrix for queries, keys and values, filled by from_reference; queries and keys are rotated in one call.
import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


def repeat_kv(x: Tensor, groups: int) -> Tensor:
    return torch.stack([x] * groups, dim=2).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int | None = None, rope: nn.Module | None = None
    ) -> None:
        super().__init__()
        head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"d_model={d_model} is no multiple of num_heads={num_heads}")
        self.num_heads = num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads % self.num_kv_heads:
            raise ValueError(f"num_heads={num_heads} is no multiple of num_kv_heads={num_kv_heads}")
        self.rope = rope
        self.sizes = [num_heads, self.num_kv_heads, self.num_kv_heads]
        self.qkv = nn.Linear(d_model, head * sum(self.sizes), bias=False)
        self.output_proj = nn.Linear(d_model, d_model, bias=False)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state[f"{each}_proj.weight"] for each in "qkv"]))
            self.output_proj.weight.copy_(state["output_proj.weight"])

    def forward(self, x: Tensor, mask=None, token_positions=None, cache=None) -> Tensor:
        T = x.size(1)
        heads = self.qkv(x).unflatten(-1, (sum(self.sizes), -1)).transpose(1, 2)  # (B, H + 2G, T, K)
        q, k, v = heads.split(self.sizes, dim=1)
        if self.rope is not None:
            if token_positions is None:
                before = cache.length if cache is not None else 0
                token_positions = torch.arange(before, before + T, device=x.device).unsqueeze(0)  # (1, T)
            q, k = self.rope(torch.cat([q, k], dim=1), token_positions).split(self.sizes[:2], dim=1)
        if cache is not None:
            k, v = cache.update(k, v)
        ones = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device)
        allowed = torch.tril(ones, diagonal=k.size(2) - T)
        if mask is not None:
            allowed = torch.logical_and(mask, allowed)
        copies = self.num_heads // self.num_kv_heads
        mixed, weights = scaled_dot_product_attention(q, repeat_kv(k, copies), repeat_kv(v, copies), allowed)
        self.attention_weights = weights.detach()
        return self.output_proj(mixed.permute(0, 2, 1, 3).reshape(x.shape))
