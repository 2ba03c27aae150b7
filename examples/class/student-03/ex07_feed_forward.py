import torch
from torch import nn


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        h = self.linear_1(x)
        h = torch.maximum(h, torch.zeros_like(h))
        return self.linear_2(self.dropout(h))
