# As the paper writes it: a matrix of K by K for each position, with blocks of 2 by 2 on its diagonal.
import torch
from torch import Tensor, nn


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        super().__init__()
        if d_k % 2:
            raise ValueError(f"an odd d_k: {d_k}")
        at = torch.arange(max_seq_len, dtype=torch.float64)
        matrices = torch.zeros(max_seq_len, d_k, d_k)
        for i in range(d_k // 2):
            angle = at * theta ** (-2 * i / d_k)
            matrices[:, 2 * i, 2 * i] = matrices[:, 2 * i + 1, 2 * i + 1] = angle.cos().float()
            matrices[:, 2 * i, 2 * i + 1] = -angle.sin().float()
            matrices[:, 2 * i + 1, 2 * i] = angle.sin().float()
        self.register_buffer("matrices", matrices, persistent=False)

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        at = torch.arange(x.shape[-2], device=x.device) if token_positions is None else token_positions
        matrices = self.matrices[at].to(x.dtype)
        if at.dim() == 2 and x.dim() == 4:
            matrices = matrices.unsqueeze(1)
        return (matrices @ x.unsqueeze(-1)).squeeze(-1)
