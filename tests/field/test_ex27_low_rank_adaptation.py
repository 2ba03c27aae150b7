"""ex27 beside peft: the same factors give the same layers and the same merged weights, in float64."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "solutions"))

from ex22_modern_model import ModernModel  # noqa: E402
from ex27_low_rank_adaptation import LoRALinear, add_lora  # noqa: E402


def model():
    """Return a small modern model, the same at every call."""
    torch.manual_seed(0)
    return ModernModel(31, 20, 24, 2, 6, 17, num_kv_heads=2).double().eval()


@pytest.mark.parametrize("rslora", [False, True])
def test_a_model_with_factors_is_that_of_peft(rslora: bool) -> None:
    own, rank, alpha = model(), 4, 10
    names = add_lora(own, rank, alpha * rank**0.5 if rslora else alpha)  # rsLoRA: alpha / sqrt(rank)
    config = peft.LoraConfig(r=rank, lora_alpha=alpha, target_modules=["q_proj", "v_proj"], use_rslora=rslora)
    other = peft.get_peft_model(model(), config).double().eval()
    theirs = {
        name.removeprefix("base_model.model."): module
        for name, module in other.named_modules()
        if isinstance(module, peft.tuners.lora.Linear)
    }
    assert sorted(theirs) == sorted(names)
    for name in names:
        layer = own.get_submodule(name)
        assert isinstance(layer, LoRALinear)
        torch.nn.init.normal_(layer.lora_B)
        theirs[name].lora_A["default"].weight.data.copy_(layer.lora_A)
        theirs[name].lora_B["default"].weight.data.copy_(layer.lora_B)
    ids = torch.randint(31, (2, 20))
    with torch.no_grad():
        torch.testing.assert_close(own(ids), other(ids), rtol=0, atol=1e-10)
    trained = sum(parameter.numel() for parameter in own.parameters() if parameter.requires_grad)
    assert trained == sum(parameter.numel() for parameter in other.parameters() if parameter.requires_grad)
    merged = other.merge_and_unload()
    for name in names:
        weight = own.get_submodule(name).merge().weight
        torch.testing.assert_close(weight, merged.get_submodule(name).weight, rtol=0, atol=1e-10)
