"""Reference part for ex16: each vector times the inverse root, in float32 at least."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        power = torch.einsum("...i,...i->...", wide, wide).div(x.size(-1)).add(self.eps)
        return wide.mul(power.rsqrt().unsqueeze(-1)).mul(self.weight.to(wide)).to(x.dtype)
