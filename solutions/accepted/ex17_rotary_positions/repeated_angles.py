# Angles are repeated for neighbours, and the pairs are turned by a quarter with stack.
import torch
from torch import Tensor, nn


def quarter_turn(x: Tensor) -> Tensor:
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        super().__init__()
        if d_k % 2 == 1:
            raise ValueError(f"rotary positions need an even d_k, not {d_k}")
        speeds = 1.0 / (theta ** (torch.arange(0, d_k, 2)[: d_k // 2].float() / d_k))
        angles = torch.einsum("n,k->nk", torch.arange(max_seq_len).float(), speeds).repeat_interleave(2, dim=-1)
        self.register_buffer("table", torch.stack((angles.cos(), angles.sin())), persistent=False)

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        if token_positions is None:
            token_positions = torch.arange(x.size(-2), device=x.device)
        cos, sin = self.table[:, token_positions].type_as(x)
        if token_positions.ndim == 2 and x.ndim == 4:
            cos, sin = cos[:, None], sin[:, None]
        return x * cos + quarter_turn(x) * sin
