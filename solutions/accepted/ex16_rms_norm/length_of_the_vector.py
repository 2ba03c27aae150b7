# The length of the vector in float32, with eps put under the root by hypot.
import math

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.root_of_eps, self.root_of_size = math.sqrt(eps), math.sqrt(d_model)
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.double() if x.dtype == torch.float64 else x.float()
        root_mean_square = wide.norm(dim=-1, keepdim=True) / self.root_of_size
        divisor = torch.hypot(root_mean_square, torch.full_like(root_mean_square, self.root_of_eps))
        return (wide / divisor).to(x.dtype) * self.weight
