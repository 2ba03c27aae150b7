"""Stand-in for ex01, by torch.nn.functional."""

import torch.nn.functional as F
from torch import nn

__all__ = ["InputEmbeddings"]


class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        table = self.embedding.weight
        return F.embedding(ids, table.mul(table.size(1) ** 0.5))
