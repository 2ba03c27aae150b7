"""One place after another."""

import torch


def running_mean(x):
    if x.shape[-1] == 0:
        raise ValueError(f"empty: {list(x.shape)}")
    return torch.stack([x[..., : t + 1].mean(dim=-1) for t in range(x.shape[-1])], dim=-1)
