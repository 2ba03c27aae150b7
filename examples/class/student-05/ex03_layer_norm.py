import torch
from torch import nn, Tensor


class LayerNormalization(nn.Module):

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(-1, keepdim=True)
        # E[(x - mean)^2], so the biased one
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        x_hat = (x - mean) / (var + self.eps) ** 0.5
        return x_hat * self.alpha + self.bias
