# The factor is a buffer made with torch. The ids are flattened for the lookup.
import torch
from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("factor", torch.sqrt(torch.tensor(float(d_model))), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        batch, length = ids.shape
        rows = nn.functional.embedding(ids.reshape(batch * length), self.embedding.weight)
        return torch.mul(rows, self.factor).reshape(batch, length, -1)
