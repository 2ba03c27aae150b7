"""ex23 beside safetensors, both ways, and with the weights of a small Llama of transformers."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors")
transformers = pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "solutions"))

from ex22_modern_model import ModernModel  # noqa: E402
from ex23_weights import DTYPES, from_llama, load_weights, read_safetensors, write_safetensors  # noqa: E402
from safetensors.torch import load, save  # noqa: E402

H, G, LAYERS, D, F, V, N = 6, 2, 11, 24, 17, 31, 20
METADATA = {"format": "pt", "merges": "a b\nab c"}


def tensors() -> dict[str, torch.Tensor]:
    """Return tensors of all dtypes, a single number, and empty ones."""
    torch.manual_seed(0)
    drawn = {kind: (50 * torch.randn(3, 5)).to(dtype) for kind, dtype in DTYPES.items()}
    return {**drawn, "number": torch.tensor(2.5), "empty": torch.zeros(0, 4), "a": torch.randn(2, 3, 4).transpose(0, 2)}


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=0, atol=0, equal_nan=True)


def test_files_of_the_library_are_read() -> None:
    plain = {name: tensor.contiguous() for name, tensor in tensors().items()}
    assert_same(read_safetensors(save(plain, METADATA)), plain)


def test_the_library_reads_what_is_written(tmp_path: Path) -> None:
    data = write_safetensors(tensors(), METADATA)
    assert_same(load(data), {name: tensor.contiguous() for name, tensor in tensors().items()})
    file = tmp_path / "model.safetensors"
    file.write_bytes(data)
    with safetensors.safe_open(file, "pt") as opened:
        assert opened.metadata() == METADATA


def llama(*, tied: bool):
    """Return a Llama of transformers with random weights, in float64."""
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=V, hidden_size=D, intermediate_size=F, num_hidden_layers=LAYERS, num_attention_heads=H,
        num_key_value_heads=G, max_position_embeddings=N, rms_norm_eps=1e-3, tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0}, attn_implementation="eager",
        pad_token_id=None, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.mark.parametrize("tied", [False, True])
def test_the_logits_are_those_of_llama(tied: bool) -> None:
    other = llama(tied=tied)
    weights = {name: tensor.contiguous() for name, tensor in other.state_dict().items()}
    if tied:
        del weights["lm_head.weight"]
    file = save(weights)
    own = ModernModel(V, N, D, LAYERS, H, F, rope_theta=500.0, num_kv_heads=G, tie_weights=tied, eps=1e-3).double()
    extra = {"model.layers.3.self_attn.rotary_emb.inv_freq": torch.ones(2)}
    assert load_weights(own, {**read_safetensors(file), **extra}) == [*extra]
    ids = torch.randint(V, (3, N))
    with torch.no_grad():
        torch.testing.assert_close(own(ids), other(ids).logits, rtol=0, atol=1e-6)


def test_the_names_are_those_of_a_state_dict() -> None:
    own = ModernModel(V, N, D, LAYERS, H, F, num_kv_heads=G)
    weights = from_llama(llama(tied=False).state_dict(), H, G)
    assert weights.keys() == own.state_dict().keys()
    assert [weights[name].shape for name in weights] == [own.state_dict()[name].shape for name in weights]
