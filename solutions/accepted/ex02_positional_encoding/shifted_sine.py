# A cosine is a sine shifted by a quarter turn. The rows are looked up by position.
import math

import torch
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        columns = torch.arange(d_model)
        exponent = torch.div(columns, 2, rounding_mode="floor") * 2 / d_model
        phase = (columns % 2) * (math.pi / 2)
        angle = torch.arange(seq_len)[:, None] / 10000**exponent + phase
        self.register_buffer("pe", torch.sin(angle)[None])

    def forward(self, x: Tensor) -> Tensor:
        table = self.pe[0]
        if x.size(1) > len(table):
            raise ValueError(f"no position {x.size(1)} in a table of {len(table)}")
        positions = torch.arange(x.size(1), device=x.device)
        return self.dropout(x + nn.functional.embedding(positions, table))
