"""Reference part for ex17: a small matrix for each pair and position, made anew in each call."""

import torch
from torch import nn


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, theta, d_k, max_seq_len):
        super().__init__()
        if d_k % 2:
            raise ValueError(f"d_k is {d_k}, and an odd number of features has no pairs")
        self.theta, self.d_k, self.max_seq_len = theta, d_k, max_seq_len

    def forward(self, x, token_positions=None):
        at = token_positions
        if at is None:
            at = torch.arange(x.size(-2), device=x.device)
        for position in at.flatten().tolist():
            if position >= self.max_seq_len:
                raise ValueError(f"position {position} is not below max_seq_len, which is {self.max_seq_len}")
        if at.dim() == 2:
            at = at.reshape([at.size(0)] + [1] * (x.dim() - 3) + [at.size(1)])
        speeds = torch.pow(float(self.theta), torch.arange(0, -self.d_k, -2, device=x.device).float().div(self.d_k))
        turns = at.float().unsqueeze(-1).mul(speeds)
        turn = torch.polar(torch.ones_like(turns), turns)
        pairs = torch.view_as_complex(x.to(torch.promote_types(x.dtype, torch.float32)).unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs.mul(turn)).flatten(-2).to(x.dtype)
