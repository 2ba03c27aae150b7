import torch
from torch import nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        x = x - x.mean(-1, True)
        return self.alpha * x / (x.pow(2).mean(-1, True) + self.eps).sqrt() + self.bias
