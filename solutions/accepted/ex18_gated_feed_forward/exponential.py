# silu by its formula, z / (1 + exp(-z)); infinity only ever divides.
import torch
from torch import Tensor, nn


def silu(z: Tensor) -> Tensor:
    return z / (1 + torch.exp(-z))


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        for name, (rows, columns) in {"w1": (d_ff, d_model), "w2": (d_model, d_ff), "w3": (d_ff, d_model)}.items():
            self.add_module(name, nn.Linear(columns, rows, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(self.w3(x) * silu(self.w1(x)))
