# Token embeddings, with the scale in a buffer.

import math

import torch
from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    """Look up one row per token and multiply it by sqrt(d_model)."""

    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size, d_model)
        # A buffer follows the device and dtype of the table.
        self.register_buffer("scale", torch.tensor(math.sqrt(d_model)))

    def forward(self, ids: Tensor) -> Tensor:
        rows = self.embedding(ids)
        return rows * self.scale
