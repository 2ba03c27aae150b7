# A matrix of 2 by 2 for each pair and position, made of one table of waves.
import torch
from torch import Tensor, nn


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        super().__init__()
        if d_k % 2:
            raise ValueError(f"{d_k} is not even")
        at = torch.arange(max_seq_len, dtype=torch.float64).unsqueeze(1)
        speeds = torch.tensor([theta ** (-2.0 * i / d_k) for i in range(d_k // 2)], dtype=torch.float64)
        quarter = torch.pi / 2
        waves = torch.cat([(at * speeds + quarter).sin(), (at * speeds).sin()], dim=1).float()
        self.register_buffer("waves", waves, persistent=False)

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        if token_positions is None:
            token_positions = torch.arange(x.shape[-2], device=x.device)
        for position in token_positions.flatten().tolist():
            if position >= len(self.waves):
                raise ValueError(f"{position} is not among the {len(self.waves)} positions")
        waves = self.waves.index_select(0, token_positions.flatten()).unflatten(0, token_positions.shape)
        if token_positions.dim() > 1:
            for _ in range(x.dim() - 3):
                waves = waves.unsqueeze(1)
        cos, sin = waves.to(x.dtype).chunk(2, dim=-1)
        pairs = x.unflatten(-1, (-1, 2))
        turns = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
        return torch.einsum("...ij,...j->...i", turns, pairs).flatten(-2)
