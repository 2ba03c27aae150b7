"""ex17 beside the rotary positions of transformers' Llama, which turn halves: equal up to the order of the features."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parents[2] / "solutions"))

from ex17_rotary_positions import RotaryPositionalEmbedding  # noqa: E402
from transformers.models.llama.modeling_llama import (  # noqa: E402
    LlamaConfig,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

B, H, T, K, N, THETA = 3, 4, 7, 8, 64, 500.0


def halves(x):
    """Return the features with the first of every pair before all the second ones."""
    return torch.cat((x[..., 0::2], x[..., 1::2]), dim=-1)


@pytest.mark.parametrize("rows", [1, B])
def test_it_equals_llama_after_its_order_of_features(rows):
    torch.manual_seed(0)
    rope = {"rope_type": "default", "rope_theta": THETA}
    config = LlamaConfig(hidden_size=H * K, num_attention_heads=H, max_position_embeddings=N, rope_parameters=rope)
    query, key = torch.randn(B, H, T, K), torch.randn(B, H, T, K)
    positions = torch.randint(0, N, (rows, T))
    cos, sin = LlamaRotaryEmbedding(config)(query, positions)
    expected = apply_rotary_pos_emb(halves(query), halves(key), cos, sin)
    own = RotaryPositionalEmbedding(THETA, K, N)
    for x, theirs in zip((query, key), expected, strict=True):
        torch.testing.assert_close(halves(own(x, positions)), theirs, rtol=1e-5, atol=1e-5)
