"""ex19 against PyTorch's own grouped attention, which the exercise forbids."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "solutions"))

from ex17_rotary_positions import RotaryPositionalEmbedding  # noqa: E402
from ex19_grouped_query_attention import GroupedQueryAttention  # noqa: E402
from ex20_kv_cache import KVCache  # noqa: E402


def heads(x, layer, count):
    """Return the projected x in heads."""
    return layer(x).unflatten(-1, (count, -1)).transpose(1, 2)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("turned", [False, True])
def test_it_equals_the_attention_of_pytorch_with_shared_heads(groups, turned):
    torch.manual_seed(groups)
    rope = RotaryPositionalEmbedding(100.0, 8, 20) if turned else None
    module = GroupedQueryAttention(48, 6, groups, rope).double()
    x = torch.randn(3, 11, 48, dtype=torch.float64)
    query, key, value = (
        heads(x, layer, count)
        for layer, count in ((module.q_proj, 6), (module.k_proj, groups), (module.v_proj, groups))
    )
    if rope is not None:
        query, key = rope(query), rope(key)
    mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    expected = module.output_proj(mixed.transpose(1, 2).flatten(2))
    tolerance = 1e-5 if turned else 1e-12  # the table of the rotation may be float32
    torch.testing.assert_close(module(x), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("chunk", [1, 3, 7])
def test_the_last_queries_equal_pytorchs_with_its_bias_from_the_end(chunk):
    bias = pytest.importorskip("torch.nn.attention.bias")
    torch.manual_seed(0)
    module, cache = GroupedQueryAttention(24, 6, 2).double(), KVCache(10)
    x = torch.randn(2, 10, 24, dtype=torch.float64)
    with torch.no_grad():
        module(x[:, : 10 - chunk], cache=cache)
        last = module(x[:, 10 - chunk :], cache=cache)
        query = heads(x[:, 10 - chunk :], module.q_proj, 6)
        key, value = (heads(x, layer, 2).repeat_interleave(3, dim=1) for layer in (module.k_proj, module.v_proj))
        mask = torch.ones(chunk, 10, dtype=torch.bool).tril(10 - chunk)
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        expected = module.output_proj(mixed.transpose(1, 2).flatten(2))
        from_the_end = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias.causal_lower_right(chunk, 10)
        )
    torch.testing.assert_close(last, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(mixed, from_the_end, rtol=0, atol=1e-12)
