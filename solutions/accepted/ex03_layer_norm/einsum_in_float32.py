# Means by einsum. Half precision is computed in float32 and cast back.
import torch
from torch import Tensor, nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        share = 1 / x.shape[-1]
        centred = wide - torch.einsum("...d->...", wide).unsqueeze(-1) * share
        variance = torch.einsum("...d,...d->...", centred, centred) * share
        normal = centred / (variance + self.eps).sqrt().unsqueeze(-1)
        return torch.einsum("...d,d->...d", normal.to(x.dtype), self.alpha) + self.bias
