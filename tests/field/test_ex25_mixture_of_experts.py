"""ex25 beside the mixture of experts of transformers' Mixtral, with the same weights."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parents[2] / "solutions"))

from ex25_mixture_of_experts import MixtureOfExperts  # noqa: E402
from transformers.models.mixtral.modeling_mixtral import (  # noqa: E402
    MixtralConfig,
    MixtralSparseMoeBlock,
    load_balancing_loss_func,
)


@pytest.mark.parametrize(("experts", "top_k"), [(8, 3), (7, 2), (4, 1), (3, 3)])
def test_the_mixture_is_that_of_mixtral_and_its_loss_is_top_k_times_ours(experts, top_k):
    torch.manual_seed(0)
    own = MixtureOfExperts(24, 17, experts, top_k)
    config = MixtralConfig(hidden_size=24, intermediate_size=17, num_local_experts=experts, num_experts_per_tok=top_k)
    config._experts_implementation = "eager"
    theirs = MixtralSparseMoeBlock(config).eval()
    gates = [torch.cat((expert.w1.weight, expert.w3.weight)) for expert in own.experts]
    with torch.no_grad():
        theirs.gate.weight.copy_(own.router.weight)
        theirs.experts.gate_up_proj.copy_(torch.stack(gates))
        theirs.experts.down_proj.copy_(torch.stack([expert.w2.weight for expert in own.experts]))
    x = torch.randn(5, 7, 24)
    output, balance_loss = own(x)
    torch.testing.assert_close(output, theirs(x), rtol=1e-5, atol=1e-6)
    logits = own.router(x.reshape(-1, 24))
    torch.testing.assert_close(top_k * balance_loss, load_balancing_loss_func((logits,), experts, top_k))
