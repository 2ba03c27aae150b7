# Stack and flatten sines and cosines. The table stays float64 and is cast on each call.
import torch
from torch import Tensor, nn


def frequencies(d_model: int) -> Tensor:
    return torch.pow(10000.0, -torch.arange(0, d_model, 2, dtype=torch.double) / d_model)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angle = torch.einsum("p,i->pi", torch.arange(seq_len).double(), frequencies(d_model))
        table = torch.stack([angle.sin(), angle.cos()], dim=2).reshape(seq_len, -1)[:, :d_model]
        self.register_buffer("pe", table.unsqueeze(0))
        self.register_buffer("length", torch.tensor(seq_len))

    def forward(self, x: Tensor) -> Tensor:
        positions = x.shape[1]
        if positions > int(self.length):
            raise ValueError(f"too long: {positions} positions, at most {int(self.length)}")
        return self.dropout(x + self.pe[:, :positions].to(x))
