"""Reference part for ex03: by sums, in float32 at least."""

import torch
from torch import nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        away = wide.sub(wide.sum(-1, keepdim=True).div(x.size(-1)))
        spread = away.square().sum(-1, keepdim=True).div(x.size(-1)).add(self.eps)
        return torch.addcmul(self.bias.to(wide), away.mul(spread.rsqrt()), self.alpha.to(wide)).to(x.dtype)
