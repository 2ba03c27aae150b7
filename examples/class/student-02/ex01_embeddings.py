# Part 1: token embeddings

import math

import torch
import torch.nn as nn


class InputEmbeddings(nn.Module):
    """
    Converts token ids into vectors.

    d_model: the size of the vectors
    vocab_size: how many different tokens there are
    """

    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        # save both numbers, we need d_model again in forward
        self.d_model = d_model
        self.vocab_size = vocab_size
        # nn.Embedding is a lookup table, it maps a number to a vector
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        # (batch, seq_len) -> (batch, seq_len, d_model)
        embedded = self.embedding(ids)
        # section 3.4 of the paper: multiply by sqrt(d_model)
        embedded = embedded * math.sqrt(self.d_model)
        return embedded
