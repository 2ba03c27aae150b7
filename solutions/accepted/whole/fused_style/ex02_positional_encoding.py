"""Positional encoding with a table that is cast once per dtype and device."""

import torch
from torch import Tensor, nn


def sinusoidal_table(seq_len: int, d_model: int) -> Tensor:
    columns = torch.arange(d_model)
    frequencies = torch.pow(10000.0, -(columns - columns % 2).double() / d_model)
    quarter_turns = (columns % 2).double() * (torch.pi / 2)  # a cosine is a sine shifted by a quarter turn
    return torch.sin(torch.arange(seq_len).double()[:, None] * frequencies + quarter_turns)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model)[None].to(torch.get_default_dtype()))
        self._source: tuple[Tensor, int] | None = None
        self._casts: dict[tuple[torch.dtype, torch.device], Tensor] = {}

    @property
    def seq_len(self) -> int:
        return self.pe.size(1)

    def table_for(self, x: Tensor) -> Tensor:
        if (x.dtype, x.device) == (self.pe.dtype, self.pe.device) or self.pe.is_inference():
            return self.pe.to(x)
        if self._source is None or self._source[0] is not self.pe or self._source[1] != self.pe._version:
            self._source = (self.pe, self.pe._version)
            self._casts = {}
        key = (x.dtype, x.device)
        if key not in self._casts:
            with torch.inference_mode(False):
                self._casts[key] = self.pe.to(x.device, x.dtype)
        return self._casts[key]

    def forward(self, x: Tensor) -> Tensor:
        length = x.size(1)
        if length > self.seq_len:
            raise ValueError(f"{length} positions are more than the {self.seq_len} of the table")
        return self.dropout(x + self.table_for(x).narrow(1, 0, length))
