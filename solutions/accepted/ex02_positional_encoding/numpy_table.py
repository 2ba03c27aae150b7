# Make the table with NumPy, one column after another.
import numpy as np
import torch
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        table = np.zeros((1, seq_len, d_model), dtype=np.float32)
        for column in range(d_model):
            wave = np.cos if column % 2 == 1 else np.sin
            table[0, :, column] = wave(np.arange(seq_len) / np.power(10000, (column - column % 2) / d_model))
        self.register_buffer("pe", torch.from_numpy(table), persistent=True)

    def forward(self, x: Tensor) -> Tensor:
        _, length, _ = x.shape
        if not length <= self.pe.shape[1]:
            raise ValueError("positions: " + str(length) + ", rows of the table: " + str(self.pe.shape[1]))
        summed = x.clone()
        summed += self.pe[:, :length]
        return self.dropout(summed)
