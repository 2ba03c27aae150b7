import torch
from torch import nn


def sinusoidal_table(seq_len, d_model):
    table = torch.zeros(seq_len, d_model)
    positions = torch.arange(seq_len, dtype=torch.float32)
    column = 0
    while column < d_model:
        frequency = 1.0 / (10000.0 ** (column / d_model))
        table[:, column] = torch.sin(positions * frequency)
        # when d_model is odd the last sine has no cosine
        if column + 1 < d_model:
            table[:, column + 1] = torch.cos(positions * frequency)
        column = column + 2
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, seq_len, dropout=0.1):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(dropout)
        self.max_length = seq_len
        table = sinusoidal_table(seq_len, d_model)
        self.register_buffer("pe", table.view(1, seq_len, d_model))

    def forward(self, x):
        length = x.size(1)
        if length > self.max_length:
            message = "the sequence has length {} but only {} is allowed".format(length, self.max_length)
            raise ValueError(message)
        summed = x + self.pe[:, :length]
        return self.dropout(summed)
