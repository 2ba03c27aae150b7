# The table is a transposed parameter, filled by from_reference.
import math

import torch
from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.columns = nn.Parameter(torch.randn(d_model, vocab_size) / math.sqrt(d_model))

    def from_reference(self, state: dict[str, Tensor]) -> None:
        self.columns.data = state["embedding.weight"].t().clone()

    def forward(self, ids: Tensor) -> Tensor:
        picked = self.columns.index_select(1, ids.flatten())  # (D, B * T)
        return math.sqrt(self.columns.size(0)) * picked.t().reshape(*ids.shape, -1)
