# Sums by einsum, all of it in float64.
import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.double()
        power = torch.einsum("...d, ...d -> ...", wide, wide) / self.d_model
        scale = (power + self.eps) ** -0.5
        return torch.einsum("...d, ..., d -> ...d", wide, scale, self.weight.double()).to(x.dtype)
