# As Llama has it: a method for the norm, cast back to half before the weight.
import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.variance_epsilon = eps
        self.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))

    def _norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, True) + self.variance_epsilon)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return self._norm(wide).type_as(x) * self.weight
