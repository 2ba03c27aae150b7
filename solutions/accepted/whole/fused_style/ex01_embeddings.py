"""Token embeddings: the table class scales its rows."""

import math

from torch import Tensor, nn


class ScaledEmbedding(nn.Embedding):
    @property
    def scale(self) -> float:
        return math.sqrt(self.embedding_dim)

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input).mul(self.scale)


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding = ScaledEmbedding(vocab_size, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        return self.embedding(ids)
