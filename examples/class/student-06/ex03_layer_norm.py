import torch
import torch.nn as nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.epsilon = eps

    def forward(self, inputs):
        mean = torch.mean(inputs, dim=-1, keepdim=True)
        variance = torch.mean(torch.square(inputs - mean), dim=-1, keepdim=True)
        stddev_inv = torch.rsqrt(variance + self.epsilon)
        normalized = (inputs - mean) * stddev_inv
        return torch.mul(normalized, self.alpha) + self.bias
