"""ex26 beside torch.optim.AdamW, in float64 and float32."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "solutions"))

from ex26_optimizer import AdamW  # noqa: E402

OPTIONS = [
    {},
    {"lr": 0.03, "betas": (0.8, 0.95), "eps": 1e-2, "weight_decay": 0.3},
    {"lr": 0.1, "betas": (0.0, 0.5), "weight_decay": 0.0},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_it_equals_the_library(options: dict[str, float], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    values = [torch.randn(4, 3, dtype=dtype), torch.randn(5, dtype=dtype)]
    mine, theirs = ([torch.nn.Parameter(value.clone()) for value in values] for _ in range(2))
    optimizers = AdamW(mine, **options), torch.optim.AdamW(theirs, **options)
    for step in range(8):
        for one, other in zip(mine, theirs, strict=True):
            one.grad = torch.randn(one.shape, dtype=dtype) if step != 2 or one.dim() > 1 else None
            other.grad = None if one.grad is None else one.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-13 if dtype == torch.float64 else 1e-6)
