# A layer class of its own, made of a parameter, and the sigmoid as a tanh.
import math

import torch
from torch import Tensor, nn


class Matrix(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / math.sqrt(inputs))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.mT


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1, self.w3, self.w2 = Matrix(d_model, d_ff), Matrix(d_model, d_ff), Matrix(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        half = self.w1(x) / 2
        return self.w2((half + half * half.tanh()) * self.w3(x))
