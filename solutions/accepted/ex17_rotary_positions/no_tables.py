# No tables: float64 angles in every call.
import torch
from torch import Tensor, nn


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        super().__init__()
        if d_k != d_k // 2 * 2:
            raise ValueError(f"d_k = {d_k} is odd")
        self.theta, self.d_k, self.max_seq_len = theta, d_k, max_seq_len

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        length = x.size(-2)
        at = torch.arange(length, device=x.device) if token_positions is None else token_positions
        if bool((at >= self.max_seq_len).any()):
            raise IndexError(f"position {at.max().item()} with max_seq_len {self.max_seq_len}")
        pairs = torch.arange(self.d_k // 2, device=x.device).double()
        angle = at.double().unsqueeze(-1) / self.theta ** (2 * pairs / self.d_k)
        if angle.dim() == 3:
            angle = angle.reshape(angle.size(0), *[1] * (x.dim() - 3), length, -1)
        left, right = x.double().unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = angle.cos(), angle.sin()
        turned = torch.zeros_like(x, dtype=torch.float64)
        turned[..., 0::2] = left * cos - right * sin
        turned[..., 1::2] = left * sin + right * cos
        return turned.to(x.dtype)
