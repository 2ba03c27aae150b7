# Centring is a projection, and the standard deviation is a vector length divided by √D.
import math

import torch
from torch import Tensor, nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.d_model = d_model
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.register_buffer("centring", torch.eye(d_model) - 1 / d_model, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        centred = nn.functional.linear(x, self.centring)
        root = math.sqrt(self.d_model)
        length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
        padded = torch.hypot(length / root, torch.full_like(length, math.sqrt(self.eps)))
        return self.alpha * centred / padded + self.bias
