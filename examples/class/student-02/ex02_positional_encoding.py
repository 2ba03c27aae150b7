# Part 2: positional encoding

import math

import torch
import torch.nn as nn


def sinusoidal_table(seq_len: int, d_model: int) -> torch.Tensor:
    # First a matrix of zeros for all positions -> (seq_len, d_model)
    pe = torch.zeros(seq_len, d_model)

    # The positions 0, 1, 2, ... as a column -> (seq_len, 1)
    position = torch.arange(0, seq_len, dtype=torch.float).unsqueeze(1)

    # The division term of the formula. It is computed in log space because
    # this is numerically more stable:
    #   1 / 10000^(2i/d) = exp(-(2i/d) * ln(10000))
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))

    # Sine goes to the even columns
    pe[:, 0::2] = torch.sin(position * div_term)

    # Cosine goes to the odd columns. If d_model is odd there is one odd
    # column less than even columns, so the last frequency is not needed.
    number_of_odd_columns = pe[:, 1::2].shape[1]
    pe[:, 1::2] = torch.cos(position * div_term[:number_of_odd_columns])

    return pe


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.d_model = d_model
        self.seq_len = seq_len
        self.dropout = nn.Dropout(dropout)

        pe = sinusoidal_table(seq_len, d_model)
        # add the batch dimension -> (1, seq_len, d_model)
        pe = pe.unsqueeze(0)
        # a buffer is saved with the model but it is not a parameter
        self.register_buffer("pe", pe)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[1]
        # the table is only seq_len long, so longer sentences are an error
        if length > self.seq_len:
            raise ValueError(f"The sequence has {length} tokens but the maximum is {self.seq_len}")
        # requires_grad_(False) because the encoding is not learned
        x = x + (self.pe[:, :length, :]).requires_grad_(False)
        return self.dropout(x)
