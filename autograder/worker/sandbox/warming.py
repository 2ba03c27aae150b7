"""What a zygote does once, so that no child of it has to: load torch, and run everything a first time.

The first step of an optimiser loads 800 modules, and the first use of each operator costs more than all later ones.
"""

import importlib
import os
from typing import Any

JOB_BYTES = 64 << 20


def load() -> dict[str, Any]:
    """Load torch and the language of the checks; return what there is to know of them."""
    import torch

    for each in ("checks.given", "worker.session", "worker.sandbox.canaries", "worker.sandbox.layers"):
        importlib.import_module(f"autograder.{each}")
    from autograder.worker.sandbox import landlock

    torch.set_num_threads(1)
    return {"pid": os.getpid(), "torch": torch.__version__, "landlock": landlock.version()}


def warm(descriptor: int) -> None:
    """Run a small model of torch's own, and the job in the file `descriptor`, whatever comes of it.

    The model is trained where a check speaks of optimisers: they load torch's compiler, for a second or more. The job
    is the course's: its checks, on programs that students may see (the stand-ins), under its public seed.
    """
    from autograder.protocol import read_frame
    from autograder.worker.session import JOB_LIMITS, Job

    job = read_frame(lambda size: os.read(descriptor, size), JOB_LIMITS)
    assert isinstance(job, dict)
    _run_model(trained=any(b"optim" in source for source in job.get("checks", {}).values()))
    if job["plan"]:
        Job({**job, "limits": None}, lambda _: None).run()


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
