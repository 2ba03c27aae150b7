"""ex22 beside the Llama of transformers, with the same weights, in float64."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "solutions"))

from ex20_kv_cache import generate_cached  # noqa: E402
from ex22_modern_model import ModernModel  # noqa: E402

H, G, LAYERS, V, N = 6, 2, 2, 31, 40

NAMES = {
    "attn.q_proj": "self_attn.q_proj",
    "attn.k_proj": "self_attn.k_proj",
    "attn.v_proj": "self_attn.v_proj",
    "attn.output_proj": "self_attn.o_proj",
    "ffn.w1": "mlp.gate_proj",
    "ffn.w3": "mlp.up_proj",
    "ffn.w2": "mlp.down_proj",
    "ln1": "input_layernorm",
    "ln2": "post_attention_layernorm",
}


def halves(weight, heads: int):
    """Return the rows of a projection with the pairs of each head as two halves, as Hugging Face has them."""
    return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def pair(*, tied: bool = False, theta: float = 500.0, window: int | None = None):
    """Return a model of the course and a model of transformers with the same weights."""
    torch.manual_seed(0)
    own = ModernModel(
        V, N, 24, LAYERS, H, 17, rope_theta=theta, num_kv_heads=G, window=window, tie_weights=tied, eps=1e-3
    )
    for parameter in own.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    own.double().eval()
    kind = "Llama" if window is None else "Mistral"
    options = {} if window is None else {"sliding_window": window}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=V, hidden_size=24, intermediate_size=17, num_hidden_layers=LAYERS, num_attention_heads=H,
        num_key_value_heads=G, max_position_embeddings=N, rms_norm_eps=1e-3, tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": theta}, attn_implementation="eager",
        pad_token_id=None, bos_token_id=None, eos_token_id=None, **options,
    )  # fmt: skip
    other = getattr(transformers, f"{kind}ForCausalLM")(config).double().eval()
    state = own.state_dict()
    tensors = {
        "model.embed_tokens.weight": state["token_embeddings.weight"],
        "model.norm.weight": state["ln_final.weight"],
    }
    tensors["lm_head.weight"] = state["lm_head.weight"]
    for i in range(LAYERS):
        for ours, theirs in NAMES.items():
            weight = state[f"layers.{i}.{ours}.weight"]
            heads = {"attn.q_proj": H, "attn.k_proj": G}.get(ours)
            tensors[f"model.layers.{i}.{theirs}.weight"] = weight if heads is None else halves(weight, heads)
    other.load_state_dict(tensors)
    return own, other


@pytest.mark.parametrize("tied", [False, True])
def test_the_logits_are_those_of_llama(tied: bool) -> None:
    own, other = pair(tied=tied)
    ids = torch.randint(V, (3, N))
    with torch.no_grad():
        torch.testing.assert_close(own(ids), other(ids).logits, rtol=0, atol=1e-6)


def test_the_window_is_that_of_mistral() -> None:
    own, other = pair(window=5)
    ids = torch.randint(V, (3, N))
    with torch.no_grad():
        torch.testing.assert_close(own(ids), other(ids).logits, rtol=0, atol=1e-6)


def test_greedy_texts_are_those_of_llama() -> None:
    own, other = pair()
    prompt = torch.randint(1, V, (2, 5))
    mask = torch.ones_like(prompt)
    expected = other.generate(prompt, attention_mask=mask, max_new_tokens=20, do_sample=False, pad_token_id=0)
    assert torch.equal(generate_cached(own, prompt, 20), expected)


def test_both_train_alike() -> None:
    own, other = pair(tied=True)
    ids = torch.randint(V, (3, 12))
    losses = [
        torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        for logits in (own(ids), other(ids).logits)
    ]
    slopes = [
        torch.autograd.grad(loss, table)[0]
        for loss, table in zip(losses, (own.token_embeddings.weight, other.model.embed_tokens.weight), strict=True)
    ]
    torch.testing.assert_close(*slopes, rtol=0, atol=1e-6)
