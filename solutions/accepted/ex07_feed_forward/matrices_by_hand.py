# Hand-written layers: einsum, a gate in place of the ReLU, and a custom dropout.
import torch
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(self, size_in: int, size_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size_out, size_in) / size_in**0.5)
        self.bias = nn.Parameter(torch.zeros(size_out))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("...i,oi->...o", x, self.weight) + self.bias


class Dropout(nn.Module):
    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return x
        return x * (torch.rand_like(x) >= self.rate) / (1 - self.rate)


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.linear_1 = Linear(d_model, d_ff)
        self.linear_2 = Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.linear_1(x)
        return self.linear_2(self.dropout(hidden * (hidden > 0)))
