"""The feed-forward network in functional calls."""

from torch import Tensor, nn
from torch.nn import functional as F


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.relu(F.linear(x, self.linear_1.weight, self.linear_1.bias))
        return F.linear(F.dropout(hidden, self.dropout.p, self.training), self.linear_2.weight, self.linear_2.bias)
