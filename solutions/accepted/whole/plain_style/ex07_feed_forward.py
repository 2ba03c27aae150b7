# The feed-forward network, one step per line.

import torch
from torch import Tensor, nn


def relu(x: Tensor) -> Tensor:
    """Keep positive numbers and set the others to 0."""
    return torch.maximum(x, torch.zeros_like(x))


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.linear_1(x)
        hidden = relu(hidden)
        hidden = self.dropout(hidden)
        return self.linear_2(hidden)
