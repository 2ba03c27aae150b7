"""ex18 beside the gated network of transformers' Llama, with the same weights, in float64."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parents[2] / "solutions"))

from ex18_gated_feed_forward import SwiGLU  # noqa: E402
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaMLP  # noqa: E402


def test_it_equals_the_network_of_llama():
    torch.manual_seed(0)
    own = SwiGLU(24, 17).double()
    theirs = LlamaMLP(LlamaConfig(hidden_size=24, intermediate_size=17, num_attention_heads=4)).double()
    names = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
    theirs.load_state_dict({f"{name}.weight": own.state_dict()[f"{mine}.weight"] for name, mine in names.items()})
    x = torch.randn(5, 7, 24, dtype=torch.float64)
    torch.testing.assert_close(own(x), theirs(x), rtol=1e-12, atol=1e-12)
