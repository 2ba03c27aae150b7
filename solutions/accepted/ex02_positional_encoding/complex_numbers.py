# Each pair is a point on the unit circle: use complex exponentials and split them into two numbers.
import torch
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        pairs = (d_model + 1) // 2
        speed = torch.logspace(0, -8 * pairs / d_model, pairs + 1, dtype=torch.float64)[:pairs]
        angle = torch.outer(torch.arange(seq_len, dtype=torch.float64), speed)
        points = torch.view_as_real(torch.exp(1j * angle)).flip(-1)  # (seq_len, pairs, 2): sine, cosine
        self.register_buffer("pe", points.flatten(1)[None, :, :d_model].float().contiguous())

    def forward(self, x: Tensor) -> Tensor:
        if x.size(-2) > self.pe.size(-2):
            raise ValueError(f"{x.size(-2)} > {self.pe.size(-2)}")
        return self.dropout(self.pe.narrow(1, 0, x.size(-2)) + x)
