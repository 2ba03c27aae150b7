"""The tasks of TorchCode: adapters and probes."""

import importlib
import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import torch
from peer_tasks import (
    Task,
    cross_entropy,
    graded,
    gradient,
    normal,
    probe_attention,
    probe_attention_layers,
    probe_cosine,
    probe_cross_entropy,
    probe_layers,
    probe_optimizer,
)
from torch import Tensor, nn
from torch.nn import functional

NAME = "TorchCode"
DRAWS = 200
"""Draws for each distribution; a share may differ by some of their deviations."""


def plain_attention(code: ModuleType) -> Any:
    """Attend without a mask."""
    return lambda query, key, value: code.scaled_dot_product_attention(query, key, value)[0]


def causal_attention(code: ModuleType) -> Any:
    """Attend with the mask of a text."""

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        mask = torch.ones(query.size(1), key.size(1), dtype=torch.bool).tril()
        result: Tensor = code.scaled_dot_product_attention(query, key, value, mask)[0]
        return result

    return attend


def probe_causal(attend: Any) -> list[Tensor]:
    """Attend within a sequence."""
    return graded(attend, normal(2, 6, 8), normal(2, 6, 8, seed=1), normal(2, 6, 8, seed=2))


class Renamed(nn.Module):
    """A module of ours with parts under the names of the other course."""

    def __init__(self, own: nn.Module, **parts: str) -> None:
        super().__init__()
        self.own = own
        for name, part in parts.items():
            setattr(self, name, getattr(own, part))

    def forward(self, *inputs: Any) -> Any:
        """Call the module."""
        return self.own(*inputs)


def multi_head_attention(code: ModuleType) -> Any:
    """Name the layers as the other course does, without dropout. Values left out are the keys."""
    names = {"W_q": "w_q", "W_k": "w_k", "W_v": "w_v", "W_o": "w_o"}

    class MultiHeadAttention(Renamed):
        def __init__(self, d_model: int, num_heads: int) -> None:
            super().__init__(code.MultiHeadAttention(d_model, num_heads, 0.0), **names)

        def forward(self, query: Tensor, key: Tensor, value: Tensor | None = None) -> Any:
            return self.own(query, key, key if value is None else value)

    return MultiHeadAttention


def probe_multi_head(make: Any) -> list[Tensor]:
    """Attend to a sequence of another length, with values of its own."""
    inputs = normal(2, 3, 12), normal(2, 5, 12, seed=1), normal(2, 5, 12, seed=2)
    return probe_attention_layers(make(d_model=12, num_heads=3), *inputs)


def probe_cross(make: Any) -> list[Tensor]:
    """Attend to a sequence of another length."""
    return probe_attention_layers(make(d_model=12, num_heads=3), normal(2, 3, 12), normal(2, 5, 12, seed=1))


def layer_norm(code: ModuleType) -> Any:
    """Hand in scale and shift as arguments."""

    def norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Any:
        layer = code.LayerNormalization(gamma.numel(), eps)
        return torch.func.functional_call(layer, {"alpha": gamma, "bias": beta}, (x,))

    return norm


def rms_norm(code: ModuleType) -> Any:
    """Hand in the weight as an argument."""

    def norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Any:
        return torch.func.functional_call(code.RMSNorm(weight.numel(), eps), {"weight": weight}, (x,))

    return norm


def probe_norm(norm: Any, learned: int) -> list[Tensor]:
    """Normalize tensors of two and three axes, with the usual and with a large eps, and equal features."""
    given = [normal(8, seed=seed) for seed in range(1, learned + 1)]
    large = graded(partial(norm, eps=0.5), normal(2, 3, 8), *given)
    return [
        *graded(norm, normal(2, 8), *given),
        *graded(norm, normal(2, 3, 8), *given),
        *large,
        norm(torch.ones(2, 8), *given),
    ]


def rope(code: ModuleType) -> Any:
    """Turn queries and keys at the positions from 0 on."""

    def turn(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        module = code.RotaryPositionalEmbedding(10000.0, q.size(-1), q.size(-2))
        return module(q), module(k)

    return turn


ATTENTION = "ex19_grouped_query_attention"
OPEN = ("grouped-dropout", "grouped-split-interleaved")
"""What their words leave open: dropout, and which features belong to a head."""

GROUPED = {"W_q": "q_proj", "W_k": "k_proj", "W_v": "v_proj", "W_o": "output_proj"}


def grouped_attention(code: ModuleType) -> Any:
    """Attend to all tokens: each is made the last one in turn, which sees all others."""

    class GroupQueryAttention(Renamed):
        def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
            super().__init__(code.GroupedQueryAttention(d_model, num_heads, num_kv_heads), **GROUPED)

        def forward(self, x: Tensor) -> Tensor:
            return torch.stack([self.own(x.roll(-t - 1, dims=1))[:, -1] for t in range(x.size(1))], dim=1)

    return GroupQueryAttention


def probe_grouped(make: Any) -> list[Tensor]:
    """Attend with shared heads, and with as many key heads as query heads."""
    shared = probe_attention_layers(make(d_model=12, num_heads=6, num_kv_heads=2), normal(2, 5, 12))
    return shared + probe_attention_layers(make(d_model=12, num_heads=3, num_kv_heads=3), normal(1, 4, 12))


def sliding_window(code: ModuleType) -> Any:
    """Look in both directions: the mask of ours looks back, and its window counts the token itself."""

    def attend(query: Tensor, key: Tensor, value: Tensor, window_size: int) -> Tensor:
        back = code.sliding_window_mask(query.size(1), key.size(1), window_size + 1)
        scores = query @ key.transpose(1, 2) / math.sqrt(query.size(-1))
        return torch.softmax(scores.masked_fill(~(back | back.T), -math.inf), dim=-1) @ value

    return attend


def probe_window(attend: Any) -> list[Tensor]:
    """Attend with windows from the token alone up to the whole sequence."""
    inputs = normal(2, 7, 4), normal(2, 7, 4, seed=1), normal(2, 7, 4, seed=2)
    return [x for window in (0, 1, 3, 7) for x in graded(partial(attend, window_size=window), *inputs)]


class Record:
    """A cache that remembers the keys and values that it returned last."""

    def __init__(self, cache: Any, tensors: tuple[Tensor, Tensor] | None) -> None:
        self.cache, self.tensors = cache, tensors
        if tensors is not None:
            cache.update(*tensors)

    @property
    def length(self) -> int:
        """The number of tokens so far."""
        return int(self.cache.length)

    def update(self, keys: Tensor, values: Tensor) -> Any:
        """Append keys and values, and return all."""
        self.tensors = self.cache.update(keys, values)
        return self.tensors


def cached_attention(code: ModuleType) -> Any:
    """Hand the cache on as a tuple. One of attention and cache is the exercise, the other is the solution's."""
    attentions = code if hasattr(code, "GroupedQueryAttention") else importlib.import_module(ATTENTION)
    caches = code if hasattr(code, "KVCache") else importlib.import_module("ex20_kv_cache")

    class KVCacheAttention(Renamed):
        def __init__(self, d_model: int, num_heads: int) -> None:
            super().__init__(attentions.GroupedQueryAttention(d_model, num_heads), **GROUPED)

        def forward(self, x: Tensor, cache: tuple[Tensor, Tensor] | None = None) -> tuple[Any, Any]:
            record = Record(caches.KVCache(64), cache)
            return self.own(x, cache=record), record.tensors

    return KVCacheAttention


def probe_cache(make: Any) -> list[Tensor]:
    """Read a sequence as a whole, and in parts: four tokens, then one at a time."""
    attention, x = make(d_model=12, num_heads=3), normal(2, 6, 12)
    whole = probe_attention_layers(attention, x)
    first, cache = attention(x[:, :4])
    second, cache = attention(x[:, 4:5], cache=cache)
    third, cache = attention(x[:, 5:], cache=cache)
    return [*whole, first, second, third, *cache]


def gated(code: ModuleType) -> Any:
    """Name the layers as the other course does."""

    return lambda d_model, d_ff: Renamed(code.SwiGLU(d_model, d_ff), gate_proj="w1", up_proj="w3", down_proj="w2")


def probe_gated(make: Any) -> list[Tensor]:
    """Call it on tensors of two and of three axes."""
    results = []
    for shape in ((4, 8), (2, 3, 8)):
        module = make(d_model=8, d_ff=12)
        results += probe_layers(module, [module.gate_proj, module.up_proj, module.down_proj], normal(*shape))
    return results


def mixture(code: ModuleType) -> Any:
    """Make the experts those of the other course, and return the mixture alone."""

    class MixtureOfExperts(Renamed):
        def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int = 2) -> None:
            own = code.MixtureOfExperts(d_model, d_ff, num_experts, top_k)
            super().__init__(own, router="router", experts="experts")
            for i in range(len(self.experts)):
                self.experts[i] = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

        def forward(self, x: Tensor) -> Any:
            return self.own(x)[0]

    return MixtureOfExperts


def probe_mixture(make: Any) -> list[Tensor]:
    """Send tokens to one and to two of four experts."""
    results = []
    for top_k in (1, 2):
        module = make(d_model=8, d_ff=6, num_experts=4, top_k=top_k)
        layers = [layer for expert in module.experts for layer in (expert[0], expert[2])]
        results += probe_layers(module, [module.router, *layers], normal(2, 5, 8))
    return results


def low_rank(code: ModuleType) -> Any:
    """Make the layer that is adapted."""

    def make(in_features: int, out_features: int, rank: int, alpha: float = 1.0) -> Any:
        return code.LoRALinear(nn.Linear(in_features, out_features), rank, alpha)

    return make


def probe_low_rank(make: Any) -> list[Any]:
    """Look at what is trained and how it starts; then call it with known numbers."""
    layer = make(in_features=6, out_features=5, rank=2, alpha=4.0)
    start = [layer.lora_A.any(), layer.lora_B, *(p.requires_grad for p in layer.linear.parameters())]
    start = [x.detach().clone() if isinstance(x, Tensor) else x for x in start]
    with torch.no_grad():
        for i, x in enumerate((layer.linear.weight, layer.linear.bias, layer.lora_A, layer.lora_B)):
            x.copy_(normal(*x.shape, seed=10 + i))
    return [*start, *graded(layer, normal(3, 6)), gradient(layer.lora_A), gradient(layer.lora_B)]


def flash_attention(code: ModuleType) -> Any:
    """Return the output alone."""
    return lambda query, key, value, block_size=32: code.flash_attention(query, key, value, block_size)[0]


def probe_flash(attend: Any) -> list[Tensor]:
    """Take blocks that fit, that do not, and one for all, also with scores of some hundred."""
    inputs = normal(2, 7, 4), normal(2, 7, 4, seed=1), normal(2, 7, 4, seed=2)
    results = [x for size in (1, 3, 7, 32) for x in graded(partial(attend, block_size=size), *inputs)]
    return [*results, attend(200 * inputs[0], *inputs[1:], block_size=3)]


def sampling(code: ModuleType) -> Any:
    """Draw one token; 0 stands for no top_k."""

    def draw(logits: Tensor, top_k: int = 0, top_p: float = 1.0, temperature: float = 1.0) -> int:
        return int(code.sample_next(logits.unsqueeze(0), temperature, top_k or None, top_p))

    return draw


def shares(call: Callable[[], int], outcomes: int) -> Tensor:
    """Return how often each outcome of a call is drawn."""
    torch.manual_seed(0)
    return torch.bincount(torch.tensor([call() for _ in range(DRAWS)]), minlength=outcomes) / DRAWS


def probe_sampling(draw: Any) -> list[Tensor]:
    """Draw from one distribution with each setting, and with two together."""
    logits = torch.tensor([0.5, 2.0, 1.0, -1.0, 0.0])
    settings: list[dict[str, Any]] = [
        {}, {"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 1}, {"top_k": 3}, {"top_p": 0.7}, {"top_p": 0.1},
        {"top_k": 3, "top_p": 0.8}, {"temperature": 2.0, "top_p": 0.7},
    ]  # fmt: skip
    return [shares(lambda: draw(logits.clone(), **setting), 5) for setting in settings]  # noqa: B023


def speculation(code: ModuleType) -> Any:
    """Draw the random numbers, and the token after a refusal. There is no token after the last one."""

    def decode(target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor) -> list[int]:
        targets = torch.cat([target_probs, target_probs[-1:]])
        kept, rest = code.verify_draft(draft_tokens, draft_probs, targets, torch.rand(len(draft_tokens)))
        tokens: list[int] = draft_tokens[:kept].tolist()
        return tokens if kept == len(draft_tokens) else [*tokens, int(torch.multinomial(rest, 1))]

    return decode


def probe_speculation(decode: Any) -> list[Tensor]:
    """Count how many tokens come and which is the last."""
    target, draft = torch.softmax(normal(3, 4), dim=-1), torch.softmax(normal(3, 4, seed=1), dim=-1)

    def outcome(tokens: list[int]) -> int:
        result = decode(target.clone(), draft.clone(), torch.tensor(tokens))
        return 4 * (len(result) - 1) + int(result[-1])

    return [shares(partial(outcome, tokens), 12) for tokens in ([0, 1, 2], [3, 3, 3], [2, 0, 1])]


def preference(code: ModuleType) -> Any:
    """Give beta its default."""

    def loss(chosen: Tensor, rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float = 0.1) -> Any:
        return code.dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta)

    return loss


def probe_preference(loss: Any) -> list[Tensor]:
    """Compare pairs with a small and a large beta; only the policy gets gradients."""
    fixed = {"ref_chosen": normal(4, seed=2), "ref_rejected": normal(4, seed=3)}

    def call(chosen: Tensor, rejected: Tensor, beta: float) -> Any:
        return loss(chosen, rejected, *fixed.values(), beta=beta)

    return [x for beta in (0.1, 2.0) for x in graded(partial(call, beta=beta), normal(4), normal(4, seed=1))]


def group_loss(code: ModuleType) -> Any:
    """Multiply the advantages by log-probabilities. The deviation of ours divides by G - 1, that of theirs by G."""

    def loss(logps: Tensor, rewards: Tensor, group_ids: Tensor, eps: float = 1e-5) -> Tensor:
        size = int((group_ids == group_ids[0]).sum())
        factor = math.sqrt(size / (size - 1))
        advantages = factor * code.group_advantages(rewards.view(-1, size), eps=factor * eps).flatten()
        return -(advantages.detach() * logps).mean()

    return loss


def probe_group_loss(loss: Any) -> list[Tensor]:
    """Take groups of two and three, with the usual and a large eps, and equal rewards."""
    results = []
    for size in (2, 3):
        groups, rewards = torch.arange(6) // size, normal(6, seed=1)
        for given in (rewards, 10 + rewards, torch.ones(6)):
            results += graded(partial(loss, rewards=given, group_ids=groups), normal(6))
        results += graded(partial(loss, rewards=rewards, group_ids=groups, eps=0.5), normal(6))
    return results


def quantized(code: ModuleType) -> Any:
    """Keep codes and scales in a layer that multiplies by what they stand for."""

    class Int8Linear(nn.Module):
        def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
            super().__init__()
            codes, scale = code.quantize_int8(weight)
            self.register_buffer("weight_int8", codes)
            self.register_buffer("scale", scale)
            self.bias = bias

        def forward(self, x: Tensor) -> Tensor:
            return functional.linear(x, code.dequantize(self.weight_int8, self.scale), self.bias)

    return Int8Linear


def probe_quantized(make: Any) -> list[Tensor]:
    """Quantize rows of different sizes, and call the layer."""
    rows = normal(6, 5) * torch.tensor([[0.01], [0.1], [1.0], [3.0], [10.0], [100.0]])
    layer = make(rows, normal(6, seed=1))
    return [layer.weight_int8, layer.scale, layer.weight_int8.float() * layer.scale, layer(normal(3, 5, seed=2))]


def patches(code: ModuleType) -> Any:
    """Cut and project; the class token and the positions of ours are left out."""

    class PatchEmbedding(nn.Module):
        def __init__(self, img_size: int, patch_size: int, in_channels: int, embed_dim: int) -> None:
            super().__init__()
            self.own = code.PatchEmbedding((img_size, img_size), patch_size, in_channels, embed_dim)
            self.size = patch_size
            self.num_patches = self.own.positions.size(1) - 1

        def forward(self, x: Tensor) -> Any:
            return self.own.projection(code.patchify(x, self.size))

    return PatchEmbedding


def probe_patches(make: Any) -> list[Any]:
    """Embed images of two channels."""
    module = make(img_size=12, patch_size=4, in_channels=2, embed_dim=6)
    return [module.num_patches, *probe_layers(module, [module.own.projection], normal(2, 2, 12, 12))]


def adam(code: ModuleType) -> Any:
    """Leave out the decay of weights, and set gradients to zeros."""

    class MyAdam(code.AdamW):  # type: ignore[name-defined,misc]
        def __init__(self, params: Any, lr: float = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8) -> None:
            super().__init__(params, lr, betas, eps, 0.0)

        def zero_grad(self, set_to_none: bool = False) -> None:
            super().zero_grad(set_to_none)

    return MyAdam


def cosine(code: ModuleType) -> Any:
    """Put the arguments in the order of ours."""
    return lambda step, total_steps, warmup_steps, max_lr, min_lr=0.0: code.cosine_learning_rate(
        step, max_lr, min_lr, warmup_steps, total_steps
    )


TASKS = (
    Task(NAME, "cross_entropy", "ex13_training", cross_entropy, probe_cross_entropy),
    Task(NAME, "layernorm", "ex03_layer_norm", layer_norm, partial(probe_norm, learned=2)),
    Task(NAME, "attention", "ex05_attention", plain_attention, probe_attention),
    Task(NAME, "causal_attention", "ex05_attention", causal_attention, probe_causal),
    Task(NAME, "mha", "ex06_multi_head_attention", multi_head_attention, probe_multi_head),
    Task(
        NAME, "cross_attention", "ex06_multi_head_attention", multi_head_attention, probe_cross,
        allowed=("heads-split-interleaved",),
    ),
    Task(
        NAME, "topk_sampling", "ex14_generation", sampling, probe_sampling, tolerance=0.17,
        allowed=("sampling-top-p-without-crossing", "sampling-top-p-of-all"),
    ),
    Task(NAME, "rmsnorm", "ex16_rms_norm", rms_norm, partial(probe_norm, learned=1)),
    Task(
        NAME, "rope", "ex17_rotary_positions", rope,
        lambda turn: graded(turn, normal(2, 8, 6), normal(2, 8, 6, seed=1)),
        allowed=("rope-positions-from-one", "rope-pairs-from-one"),
    ),
    Task(NAME, "mlp", "ex18_gated_feed_forward", gated, probe_gated),
    Task(
        NAME, "gqa", ATTENTION, grouped_attention, probe_grouped,
        allowed=("grouped-causal-without-itself", "grouped-anti-causal", *OPEN),
    ),
    Task(
        NAME, "kv_cache", ATTENTION, cached_attention, probe_cache,
        allowed=OPEN,
    ),
    Task(NAME, "kv_cache", "ex20_kv_cache", cached_attention, probe_cache, allowed=("cache-newest-first",)),
    Task(NAME, "sliding_window", "ex21_sliding_window", sliding_window, probe_window),
    Task(NAME, "flash_attention", "ex24_online_softmax", flash_attention, probe_flash),
    Task(
        NAME, "moe", "ex25_mixture_of_experts", mixture, probe_mixture,
        allowed=("experts-not-renewed", "experts-noise", "experts-input-overwritten"),
    ),
    Task(NAME, "adam", "ex26_optimizer", adam, probe_optimizer),
    Task(NAME, "cosine_lr", "ex26_optimizer", cosine, probe_cosine),
    Task(NAME, "lora", "ex27_low_rank_adaptation", low_rank, probe_low_rank),
    Task(NAME, "speculative_decoding", "ex28_speculative_decoding", speculation, probe_speculation, tolerance=0.17),
    Task(NAME, "dpo_loss", "ex30_preference", preference, probe_preference),
    Task(NAME, "grpo_loss", "ex30_preference", group_loss, probe_group_loss),
    Task(NAME, "int8_quantization", "ex31_quantization", quantized, probe_quantized),
    Task(
        NAME, "vit_patch", "ex34_image_patches", patches, probe_patches,
        allowed=("patches-channel-last", "patches-transposed", "patches-column-by-column"),
    ),
)  # fmt: skip
