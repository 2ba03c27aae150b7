"""Stand-in for ex03, by torch.nn.functional."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["LayerNormalization"]


class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.layer_norm(x, self.alpha.shape, self.alpha, self.bias, self.eps)
