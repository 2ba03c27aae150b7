"""ex02: positional encoding, one column of the table after the other."""

import torch
from torch import Tensor, nn

# The base of the wave lengths in the paper.
BASE = 10000.0


def frequency_of_column(column: int, d_model: int) -> float:
    """Return the frequency of one column. Two neighbours (2i and 2i + 1) share it."""
    pair = column // 2
    even_column = 2 * pair
    exponent = even_column / d_model
    frequency = 1.0 / (BASE**exponent)
    return frequency


def sinusoidal_table(seq_len: int, d_model: int) -> Tensor:
    """Return the table (seq_len, D): sines in the even columns, cosines in the odd ones."""
    # We compute in float64, because large angles lose digits in float32.
    positions = torch.arange(0, seq_len, dtype=torch.float64)
    table = torch.zeros(seq_len, d_model, dtype=torch.float64)

    for column in range(d_model):
        frequency = frequency_of_column(column, d_model)
        angles = positions * frequency
        is_even = column % 2 == 0
        if is_even:
            table[:, column] = torch.sin(angles)
        else:
            table[:, column] = torch.cos(angles)

    # The model usually works in float32.
    return table.to(torch.get_default_dtype())


class PositionalEncoding(nn.Module):
    """Add the position of each token to its vector, then apply dropout to the sum."""

    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

        # (seq_len, D) -> (1, seq_len, D): the first axis is for the batch.
        table = sinusoidal_table(seq_len, d_model)
        table_with_batch_axis = table.unsqueeze(0)
        self.register_buffer("pe", table_with_batch_axis)

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (B, T, D) into (B, T, D)."""
        # Step 1: does the sequence fit into the table?
        length = x.size(1)
        longest = self.pe.size(1)
        if length > longest:
            raise ValueError(f"a sequence of {length} tokens is longer than the table of {longest} positions")

        # Step 2: take the first T rows of the table, in the dtype of x.
        first_positions = self.pe[:, :length]
        first_positions = first_positions.to(device=x.device, dtype=x.dtype)

        # Step 3: add them, then drop out.
        total = x + first_positions
        result = self.dropout(total)
        return result
