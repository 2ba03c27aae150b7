"""Stand-in for ex07, by torch.nn.functional."""

import torch.nn.functional as F
from torch import nn

__all__ = ["FeedForwardNetwork"]


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        inner = F.threshold(F.linear(x, self.linear_1.weight, self.linear_1.bias), 0.0, 0.0)
        return F.linear(self.dropout(inner), self.linear_2.weight, self.linear_2.bias)
