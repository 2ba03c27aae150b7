# Each row is the previous row with every pair rotated by its own angle.
import torch
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        step = torch.tensor([10000 ** (-2 * i / d_model) for i in range(d_model - d_model // 2)], dtype=torch.float64)
        sine, cosine = torch.zeros_like(step), torch.ones_like(step)
        pe = torch.empty(1, seq_len, d_model)
        for position in range(seq_len):
            pe[0, position, ::2] = sine
            pe[0, position, 1::2] = cosine[: d_model // 2]
            sine, cosine = sine * step.cos() + cosine * step.sin(), cosine * step.cos() - sine * step.sin()
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        try:
            return self.dropout(x + self.pe[:, :length])
        except RuntimeError:
            raise ValueError(f"{length} positions do not fit a table of {self.pe.shape[1]}") from None
