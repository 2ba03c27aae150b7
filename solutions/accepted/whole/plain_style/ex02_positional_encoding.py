# Positional encoding, number by number.

import math

import torch
from torch import Tensor, nn


def angle(position: int, column: int, d_model: int) -> float:
    """Return the angle of a column. Two neighbouring columns share one frequency."""
    pair = column // 2
    return position / math.pow(10000.0, 2 * pair / d_model)


def sinusoidal_table(seq_len: int, d_model: int) -> Tensor:
    """Return the table (seq_len, d_model), written row by row in double precision."""
    rows = []
    for position in range(seq_len):
        row = []
        for column in range(d_model):
            if column % 2 == 0:
                row.append(math.sin(angle(position, column, d_model)))
            else:
                row.append(math.cos(angle(position, column, d_model)))
        rows.append(row)
    table = torch.tensor(rows, dtype=torch.get_default_dtype())
    return table.reshape(seq_len, d_model)


class PositionalEncoding(nn.Module):
    """Add row p of the table to the vector at position p."""

    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.seq_len = seq_len
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model).unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        longest = self.pe.shape[1]
        if length > longest:
            raise ValueError(f"The sequence has {length} positions, the table has only {longest}.")
        positions = self.pe[:, 0:length, :]
        positions = positions.to(device=x.device, dtype=x.dtype)
        return self.dropout(x + positions)
