"""ex16 beside `torch.nn.RMSNorm`, which the exercise forbids, in all dtypes."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "solutions"))

from ex16_rms_norm import RMSNorm  # noqa: E402

TOLERANCES = {"float64": 1e-12, "float32": 1e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("scale", "eps"), [(1.0, 1e-5), (300.0, 1e-5), (3e-4, 1e-9), (0.0, 1e-5)])
def test_it_equals_the_norm_of_pytorch(dtype, scale, eps):
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    own, theirs = RMSNorm(24, eps).to(kind), torch.nn.RMSNorm(24, eps).to(kind)
    weight = torch.rand(24) + 0.5
    own.weight.data.copy_(weight)
    theirs.weight.data.copy_(weight)
    x = (torch.randn(3, 5, 24) * scale).to(kind)
    result = own(x)
    assert result.dtype == kind
    tolerance = TOLERANCES[dtype]
    torch.testing.assert_close(result, theirs(x), rtol=tolerance, atol=tolerance)
