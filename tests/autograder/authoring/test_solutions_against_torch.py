"""The solutions against torch.nn: another implementation, the same weights, float64."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

SOLUTIONS = Path(__file__).parents[3] / "solutions"
B, T, S, D, H, F = 3, 7, 5, 24, 4, 17


@pytest.fixture(scope="module")
def solution() -> Iterator[ModuleType]:
    """Import the solutions as the modules they are, whatever a notebook imports, and forget them afterwards."""
    finders = list(sys.meta_path)
    sys.meta_path[:] = [finder for finder in finders if not type(finder).__module__.startswith("autograder.")]
    sys.path.insert(0, str(SOLUTIONS))
    _forget()
    yield importlib.import_module  # type: ignore[misc]
    sys.path.remove(str(SOLUTIONS))
    _forget()
    sys.meta_path[:] = finders


def _forget() -> None:
    for file in SOLUTIONS.glob("ex*.py"):
        sys.modules.pop(file.stem, None)


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def randomize(module: nn.Module) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()


def copy_attention(own: nn.Module, library: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        library.in_proj_weight.copy_(torch.cat([own.w_q.weight, own.w_k.weight, own.w_v.weight]))
        library.in_proj_bias.zero_()
        library.out_proj.weight.copy_(own.w_o.weight)
        library.out_proj.bias.copy_(own.w_o.bias)


def copy_layer(own: nn.Module, library: nn.Module, norms: int) -> None:
    with torch.no_grad():
        for number in range(1, norms + 1):
            norm, theirs = getattr(own, f"layer_norm_{number}"), getattr(library, f"norm{number}")
            theirs.weight.copy_(norm.alpha)
            theirs.bias.copy_(norm.bias)
        for number in (1, 2):
            linear, theirs = getattr(own.feed_forward, f"linear_{number}"), getattr(library, f"linear{number}")
            theirs.weight.copy_(linear.weight)
            theirs.bias.copy_(linear.bias)


def alike(own: Tensor, library: Tensor) -> None:
    torch.testing.assert_close(own, library, rtol=1e-10, atol=1e-10)


def allowed(*shape: int) -> Tensor:
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    return mask


def test_layer_norm_is_that_of_torch(solution: ModuleType) -> None:
    own, library = solution("ex03_layer_norm").LayerNormalization(D, eps=0.1), nn.LayerNorm(D, eps=0.1)
    randomize(own)
    with torch.no_grad():
        library.weight.copy_(own.alpha)
        library.bias.copy_(own.bias)
    x = torch.randn(B, T, D)
    alike(own(x), library(x))


def test_attention_is_that_of_torch(solution: ModuleType) -> None:
    query, key, value, mask = torch.randn(B, H, T, 6), torch.randn(B, H, S, 6), torch.randn(B, H, S, 9), allowed(T, S)
    output, _ = solution("ex05_attention").scaled_dot_product_attention(query, key, value, mask)
    alike(output, nn.functional.scaled_dot_product_attention(query, key, value, mask))


@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_attention_is_that_of_torch(solution: ModuleType, masked: bool) -> None:
    own = solution("ex06_multi_head_attention").MultiHeadAttention(D, H).eval()
    library = nn.MultiheadAttention(D, H, batch_first=True).eval()
    randomize(own)
    copy_attention(own, library)
    query, key, value, mask = torch.randn(B, T, D), torch.randn(B, S, D), torch.randn(B, S, D), allowed(T, S)
    output = own(query, key, value, mask if masked else None)
    expected, weights = library(query, key, value, attn_mask=~mask if masked else None, average_attn_weights=False)
    alike(output, expected)
    alike(own.attention_weights, weights)


def test_the_encoder_block_is_the_layer_of_torch(solution: ModuleType) -> None:
    own = solution("ex08_encoder").EncoderBlock(D, H, F, 0.1).eval()
    library = nn.TransformerEncoderLayer(D, H, F, batch_first=True, layer_norm_eps=1e-6).eval()
    randomize(own)
    copy_layer(own, library, norms=2)
    copy_attention(own.attention, library.self_attn)
    x, mask = torch.randn(B, T, D), torch.ones(T, T, dtype=torch.bool).tril()
    alike(own(x, mask), library(x, src_mask=~mask))


def test_the_decoder_block_is_the_layer_of_torch(solution: ModuleType) -> None:
    own = solution("ex09_decoder").DecoderBlock(D, H, F, 0.1).eval()
    library = nn.TransformerDecoderLayer(D, H, F, batch_first=True, layer_norm_eps=1e-6).eval()
    randomize(own)
    copy_layer(own, library, norms=3)
    copy_attention(own.self_attention, library.self_attn)
    copy_attention(own.cross_attention, library.multihead_attn)
    x, read, causal, source = torch.randn(B, T, D), torch.randn(B, S, D), torch.ones(T, T).bool().tril(), allowed(T, S)
    alike(own(x, read, source, causal), library(x, read, tgt_mask=~causal, memory_mask=~source))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_cross_entropy_of_torch(solution: ModuleType, smoothing: float) -> None:
    logits, labels = torch.randn(B, T, 11), torch.randint(0, 11, (B, T))
    own = solution("ex13_training").sequence_loss(logits, labels, 0, smoothing)
    expected = nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=0, label_smoothing=smoothing
    )
    alike(own, expected)


class ClampWithoutSlopeAtItsBound(torch.autograd.Function):
    """`clamp_min` as from torch 2.15 on, where a number equal to the bound has gradient 0; before it was 1."""

    @staticmethod
    def forward(ctx: Any, numbers: Tensor, bound: float) -> Tensor:
        ctx.save_for_backward(numbers > bound)
        return numbers.clamp(min=bound)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        (above,) = ctx.saved_tensors
        return gradient * above, None


def test_the_fused_softmax_has_the_gradient_of_softmax_with_either_slope_of_clamp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = SOLUTIONS / "accepted" / "whole" / "fused_style" / "ex05_attention.py"
    spec = importlib.util.spec_from_file_location("fused_attention", file)
    assert spec is not None
    assert spec.loader is not None
    fused = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fused)
    mask = torch.ones(T, T, dtype=torch.bool).tril()  # the sum of its first row is exactly 1
    scores, weights = torch.randn(T, T, requires_grad=True), torch.randn(T, T)
    wanted = torch.autograd.grad((scores.masked_fill(~mask, -torch.inf).softmax(-1) * weights).sum(), scores)
    for clamp_min in (Tensor.clamp_min, ClampWithoutSlopeAtItsBound.apply):
        monkeypatch.setattr(Tensor, "clamp_min", lambda numbers, bound, clamp=clamp_min: clamp(numbers, bound))
        alike(*torch.autograd.grad((fused.masked_softmax(scores, mask) * weights).sum(), scores), *wanted)
