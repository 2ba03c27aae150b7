"""ex24 beside PyTorch's own fused attention, in float64."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "solutions"))

from ex24_online_softmax import flash_attention  # noqa: E402

library = torch.nn.functional.scaled_dot_product_attention


@pytest.mark.parametrize("block_size", [1, 3, 16, 50])
@pytest.mark.parametrize("causal", [False, True])
def test_it_equals_the_library(block_size: int, causal: bool) -> None:
    torch.manual_seed(0)
    sizes = ((33, 6), (33, 6), (33, 5))
    tensors = [torch.randn(2, 3, *size, dtype=torch.float64, requires_grad=True) for size in sizes]
    output, logsumexp = flash_attention(*tensors, block_size, causal)
    expected = library(*tensors, is_causal=causal)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-12)
    for yours, theirs in zip(*(torch.autograd.grad(x.sin().sum(), tensors) for x in (output, expected)), strict=True):
        torch.testing.assert_close(yours, theirs, rtol=0, atol=1e-12)
    scores = tensors[0] @ tensors[1].mT / 6**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(33, 33).triu(1).bool(), -torch.inf)
    torch.testing.assert_close(logsumexp, scores.logsumexp(-1), rtol=0, atol=1e-12)


def test_the_last_query_stands_at_the_last_key() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, size, 6, dtype=torch.float64) for size in (5, 12, 12))
    closed = torch.ones(5, 12).triu(1 + 12 - 5).bool()
    expected = library(query, key, value, attn_mask=~closed)
    torch.testing.assert_close(flash_attention(query, key, value, 4, True)[0], expected, rtol=0, atol=1e-12)
