"""Warm up torch: the first step of an optimiser loads 800 modules, and each operator's first use is slow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from autograder.checks.another_device import another_device
from autograder.protocol.fingerprints import fingerprint
from autograder.worker.tensors import OPTIMIZERS

MOST_BITS = 13
"""Most of the arrays that a traced program makes have fewer than 2**13 elements."""


def warm(checks: Mapping[str, bytes]) -> None:
    """Run a small model from torch's own modules, and common operators.

    The model is trained only if a check mentions optimisers, which load torch's compiler (1 s).
    """
    _run_model(trained=any(OPTIMIZERS in source for source in checks.values()))
    _run_operators()
    for bits in range(MOST_BITS):
        fingerprint(np.ones(1 << bits))


def _run_model(*, trained: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 5))
    for kind in (torch.optim.AdamW, torch.optim.Adam):
        loss = functional.cross_entropy(model(torch.randn(3, 4)), torch.tensor([1, 2, 3]))
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if trained:
            optimiser = kind(model.parameters())
            optimiser.step()
            optimiser.zero_grad()
    model.load_state_dict(model.state_dict())
    torch.multinomial(torch.rand(2, 5), 1)


def _run_operators() -> None:
    """Run common operators forwards and backwards, on the CPU and on the pretended device."""
    for dtype in (torch.float32, torch.float64):
        _compute(torch.device("cpu"), dtype)
    with another_device() as device:
        _compute(device, torch.float32)


def _compute(device: Any, dtype: Any) -> None:
    numbers = torch.arange(12, device=device).remainder(5)
    table = torch.ones(5, 4, dtype=dtype).to(device).requires_grad_()
    rows = table.index_select(0, numbers).view(3, 1, 4, 4) * 0.5 + table[numbers[:4]].unsqueeze(0)
    mask = torch.ones(4, 4, dtype=torch.bool, device=device).tril() & (numbers.view(3, 4) != 0).unsqueeze(1)
    products = torch.matmul(rows, rows.transpose(-2, -1)) / 2.0
    filled = torch.where(mask.unsqueeze(1), products, products.masked_fill(~mask.unsqueeze(1), float("-inf")))
    shares = torch.exp(filled - filled.amax(-1, keepdim=True).detach())
    shares = torch.dropout(shares / shares.sum(-1, keepdim=True).clamp(min=1e-6), 0.1, True)
    mixed = shares.nan_to_num() @ rows
    joined = torch.cat([mixed.permute(0, 2, 1, 3).reshape(3, 4, 4), mixed.squeeze(1).contiguous()], -1)
    spread = (joined.var(-1, unbiased=False, keepdim=True) + joined.std(-1, keepdim=True) + 1e-5).sqrt()
    normed = (joined - joined.mean(-1, keepdim=True)) / spread * torch.rsqrt(spread.pow(2) + 1.0)
    angles = torch.stack([normed.sin(), normed.cos(), normed.tanh().relu()], -1).flatten(2)
    loss = functional.cross_entropy(angles.flatten(0, 1), numbers)
    loss.backward()  # type: ignore[no-untyped-call]
