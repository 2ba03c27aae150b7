import torch
from torch import nn


def sinusoidal_table(seq_len, d_model):
    # e^(i angle) = cos + i sin, so one complex number is one pair of columns (the wrong way round, hence the flip)
    freq = 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model)
    angle = torch.outer(torch.arange(seq_len).double(), freq)
    pairs = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))
    return pairs.flip(-1).flatten(1)[:, :d_model].float()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, seq_len, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model)[None])

    def forward(self, x):
        if x.shape[1] > self.pe.shape[1]:
            raise ValueError(f"got {x.shape[1]} tokens, the table has {self.pe.shape[1]} rows")
        return self.dropout(x + self.pe[:, : x.shape[1]])
