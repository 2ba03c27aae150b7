# The variance is the mean of the squares minus the square of the mean.
import torch
from torch import Tensor, nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.sum(-1, keepdim=True) / self.d_model
        mean_of_squares = (x * x).sum(-1, keepdim=True) / self.d_model
        normal = (x - mean) / (mean_of_squares - mean * mean + self.eps).sqrt()
        return normal * self.alpha + self.bias
