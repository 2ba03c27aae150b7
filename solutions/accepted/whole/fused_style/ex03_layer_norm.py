"""Layer normalization with scale and shift in one parameter. Half precision is computed in float32."""

import torch
from torch import Tensor, nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.affine = nn.Parameter(torch.stack((torch.ones(d_model), torch.zeros(d_model))))

    @property
    def alpha(self) -> Tensor:
        return self.affine[0]

    @property
    def bias(self) -> Tensor:
        return self.affine[1]

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.affine.copy_(torch.stack((state["alpha"], state["bias"])))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        centred = wide - wide.mean(-1, keepdim=True)
        normal = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + self.eps)
        alpha, bias = self.affine.unbind()
        return torch.addcmul(bias, alpha, normal.to(x.dtype))
