"""What a program's first seconds in a fresh process are lost to, done while nobody waits for it."""

import random

import numpy as np
import torch
from torch import nn

import autograder.checks.language
import autograder.checks.structure
import autograder.worker.faults
import autograder.worker.forbidding
import autograder.worker.observe  # noqa: F401

DTYPES = (torch.float64, torch.bfloat16, torch.float32)


def up() -> None:
    """Compute a little of everything, forwards and backwards: libraries are loaded and set up when first used."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    for dtype in DTYPES:
        x = torch.as_tensor(np.random.standard_normal((2, 3, 4))).to(dtype).requires_grad_()
        y = nn.Linear(4, 4).to(dtype)(x) @ x.transpose(-2, -1)
        y.masked_fill(y > 1, 0).softmax(dim=-1).std().backward()
