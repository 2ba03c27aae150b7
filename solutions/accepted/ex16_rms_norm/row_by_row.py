# A function of one vector, applied to one vector after another; the scale has a name of its own.
import torch
from torch import Tensor, nn


def normalized(vector: Tensor, eps: float) -> Tensor:
    return vector / (vector.dot(vector) / len(vector) + eps).sqrt()


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(1, d_model))

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.gain.copy_(state["weight"].unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32)).reshape(-1, x.shape[-1])
        rows = torch.stack([normalized(row, self.eps) for row in wide])
        return (rows * self.gain).reshape(x.shape).to(x.dtype)
