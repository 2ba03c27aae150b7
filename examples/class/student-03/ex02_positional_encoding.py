import math

import torch
from torch import nn


def sinusoidal_table(seq_len, d_model):
    table = torch.zeros(seq_len, d_model)
    for p in range(seq_len):
        for column in range(d_model):
            # columns 2i and 2i+1 have the same i
            i = column // 2
            angle = p / 10000 ** (2 * i / d_model)
            if column % 2 == 0:
                table[p, column] = math.sin(angle)
            else:
                table[p, column] = math.cos(angle)
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, seq_len, dropout=0.1):
        super().__init__()
        self.seq_len = seq_len
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model).reshape(1, seq_len, d_model))

    def forward(self, x):
        T = x.size(1)
        if T > self.seq_len:
            raise ValueError("sequence too long: " + str(T) + " > " + str(self.seq_len))
        return self.dropout(x + self.pe[:, 0:T, :])
