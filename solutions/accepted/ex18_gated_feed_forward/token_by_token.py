# One token after another, and silu in place on a tensor of its own.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def token(self, vector: Tensor) -> Tensor:
        hidden = F.silu(F.linear(vector, self.w1.weight), inplace=True)
        return F.linear(hidden.mul(F.linear(vector, self.w3.weight)), self.w2.weight)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.size(-1))
        return torch.stack([self.token(vector) for vector in tokens]).reshape(x.shape)
