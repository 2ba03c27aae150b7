import numpy as np
import torch
import torch.nn as nn


def get_angles(pos, i, d_model):
    angle_rates = 1 / np.power(10000, (2 * (i // 2)) / np.float32(d_model))
    return pos * angle_rates


def sinusoidal_table(seq_len, d_model):
    angle_rads = get_angles(np.arange(seq_len)[:, np.newaxis], np.arange(d_model)[np.newaxis, :], d_model)
    # columns 2i: sin
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    # columns 2i+1: cos
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return torch.tensor(angle_rads, dtype=torch.float32)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, seq_len, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model)[np.newaxis, ...])

    def forward(self, x):
        n, n_max = x.shape[1], self.pe.shape[1]
        if n > n_max:
            raise ValueError("x has %d positions, pe has %d" % (n, n_max))
        return self.dropout(torch.add(x, self.pe[:, :n, :]))
