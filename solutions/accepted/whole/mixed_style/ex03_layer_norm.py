import torch
from torch import Tensor, nn


def _standardise(x: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(dim=-1, keepdim=True)
    var = torch.einsum("...d,...d->...", centred, centred) / x.size(-1)
    return centred * torch.rsqrt(var + eps).unsqueeze(-1)


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        # squares of float16 overflow early, so the statistics are taken in at least float32
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        normed = _standardise(wide, self.eps)
        return (self.alpha * normed + self.bias).to(x.dtype)
