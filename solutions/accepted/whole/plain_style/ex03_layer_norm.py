# Layer normalization, written like the formula.

import torch
from torch import Tensor, nn


def mean_of(x: Tensor) -> Tensor:
    """Return the mean of each vector, with an axis of size 1 in place of the features."""
    return x.mean(dim=-1, keepdim=True)


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        difference = x - mean_of(x)
        variance = mean_of(difference * difference)
        root = torch.sqrt(variance + self.eps)
        normalized = difference / root
        return self.alpha * normalized + self.bias
