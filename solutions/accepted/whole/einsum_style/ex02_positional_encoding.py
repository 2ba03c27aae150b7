"""Sinusoidal positions as an outer product, stored in float64 and cast on each call."""

import torch
from torch import Tensor, nn


def sinusoidal_table(seq_len: int, d_model: int) -> Tensor:
    rates = 10000.0 ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.einsum("p,i->pi", torch.arange(seq_len, dtype=torch.float64), rates)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[:, :d_model]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model)[None])

    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) > self.pe.size(1):
            raise ValueError(f"a sequence of {x.size(1)} positions does not fit into a table of {self.pe.size(1)}")
        return self.dropout(x + self.pe[:, : x.size(1)].to(x))
