"""Warm up a zygote: load torch and run everything once, so that none of its children has to.

The first step of an optimiser loads 800 modules, and the first use of each operator costs more than all later ones.
"""

import gc
import importlib
import os
from typing import Any

MOST_BITS = 13
"""Most of the arrays that a traced program makes have fewer than 2**13 elements."""


def load() -> dict[str, Any]:
    """Load torch and the language of the checks; return the versions of torch and Landlock.

    Loading makes hardly any garbage, and collecting it would take a third of the time. So collection starts in the
    children (`session.serve`), which ignore all objects older than themselves.
    """
    gc.disable()
    import torch

    for name in ("checks.given", "worker.session", "worker.sandbox.canaries", "worker.sandbox.layers"):
        importlib.import_module(f"autograder.{name}")
    from autograder.worker.sandbox import landlock

    torch.set_num_threads(1)
    return {"torch": torch.__version__, "landlock": landlock.version()}


def warm(descriptor: int) -> None:
    """Run a small model from torch's own modules, common operators, and the job in the file `descriptor`.

    The job is the course's: its checks, on its reference parts, with its public seed. Its results do not matter.
    Nothing of the parts may remain afterwards: submissions run in copies of this process, and could use the parts.
    """
    _run_job(descriptor)
    gc.collect()  # classes are part of reference cycles: without this, those of the parts would remain
    gc.freeze()


def _run_job(descriptor: int) -> None:
    """Run the job. The model is trained only if a check mentions optimisers, which load torch's compiler (1 s)."""
    import numpy as np

    from autograder.protocol import read_frame
    from autograder.protocol.fingerprints import fingerprint
    from autograder.worker import library_guard
    from autograder.worker.session import JOB_LIMITS, Job

    job = read_frame(lambda size: os.read(descriptor, size), JOB_LIMITS)
    assert isinstance(job, dict)
    _run_model(trained=any(b"optim" in source for source in job.get("checks", {}).values()))
    _run_operators()
    for bits in range(MOST_BITS):
        fingerprint(np.ones(1 << bits))
    if job["plan"]:
        Job({**job, "limits": None}, lambda _: None).run()
    if any(job.get("forbidden", {}).values()):
        library_guard.guard_loaded()


def _run_model(*, trained: bool) -> None:
    import torch
    from torch import nn
    from torch.nn import functional

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
    import torch

    from autograder.checks.another_device import another_device

    for dtype in (torch.float32, torch.float64):
        _compute(torch.device("cpu"), dtype)
    with another_device() as device:
        _compute(device, torch.float32)


def _compute(device: Any, dtype: Any) -> None:
    import torch
    from torch.nn import functional

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
