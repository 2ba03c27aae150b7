import math

from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.scale: float = math.sqrt(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        return self.embedding(ids) * self.scale
