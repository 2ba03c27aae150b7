# Part 3: layer normalization

import torch
import torch.nn as nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        # eps avoids a division by zero
        self.eps = eps
        # the scale, learned during training
        self.alpha = nn.Parameter(torch.ones(1))
        # the shift, learned during training
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x: (batch, seq_len, d_model)
        # keepdim=True, because we subtract and divide with these below
        mean = x.mean(dim=-1, keepdim=True)  # (batch, seq_len, 1)
        std = x.std(dim=-1, keepdim=True)  # (batch, seq_len, 1)
        # with eps the division also works when std is zero
        return self.alpha * (x - mean) / (std + self.eps) + self.bias
