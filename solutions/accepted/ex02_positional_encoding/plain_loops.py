# Two loops over Python numbers, and functional dropout.
import math

import torch
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        rows = []
        for p in range(seq_len):
            row = []
            for c in range(d_model):
                angle = p / 10000 ** (2 * (c // 2) / d_model)
                row.append(math.cos(angle) if c % 2 else math.sin(angle))
            rows.append(row)
        self.register_buffer("pe", torch.tensor([rows]))

    def forward(self, x: Tensor) -> Tensor:
        known, asked = self.pe.shape[1], x.shape[1]
        if asked > known:
            raise ValueError(f"seq_len is {known}, but the input has {asked} positions")
        return nn.functional.dropout(torch.add(x, self.pe[:, :asked]), self.dropout.p, self.training)
