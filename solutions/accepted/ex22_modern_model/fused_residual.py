# The stream and what is to be added travel apart, so that the sum and the norm could be one kernel.
import torch
from ex16_rms_norm import RMSNorm
from ex17_rotary_positions import RotaryPositionalEmbedding
from ex18_gated_feed_forward import SwiGLU
from ex19_grouped_query_attention import GroupedQueryAttention
from ex20_kv_cache import KVCache
from ex21_sliding_window import RollingKVCache, sliding_window_mask
from torch import nn


class ModernBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_kv_heads=None, rope=None, eps=1e-5):
        super().__init__()
        self.ln1 = RMSNorm(d_model, eps)
        self.attn = GroupedQueryAttention(d_model, num_heads, num_kv_heads, rope)
        self.ln2 = RMSNorm(d_model, eps)
        self.ffn = SwiGLU(d_model, d_ff)

    def step(self, stream, added, mask, positions, cache):
        stream = stream + added
        stream = stream + self.attn(self.ln1(stream), mask, positions, cache)
        return stream, self.ffn(self.ln2(stream))

    def forward(self, x, mask=None, token_positions=None, cache=None):
        stream, added = self.step(x, torch.zeros_like(x), mask, token_positions, cache)
        return stream + added


class ModernModel(nn.Module):
    def __init__(
        self,
        vocab_size,
        context_length,
        d_model,
        num_layers,
        num_heads,
        d_ff,
        rope_theta=10000.0,
        num_kv_heads=None,
        window=None,
        sinks=0,
        tie_weights=False,
        eps=1e-5,
    ):
        super().__init__()
        self.context_length = context_length
        self.window = window
        self.sinks = sinks
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.token_embeddings.weight.data.mul_(d_model**-0.5)
        self.rope = RotaryPositionalEmbedding(rope_theta, d_model // num_heads, context_length)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(ModernBlock(d_model, num_heads, d_ff, num_kv_heads, self.rope, eps))
        self.ln_final = RMSNorm(d_model, eps)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        if tie_weights:
            self.token_embeddings.weight.data.mul_(d_model**-0.5)
            del self.lm_head.weight
            self.lm_head.weight = self.token_embeddings.weight

    def make_cache(self, max_len=None):
        room = self.context_length if max_len is None else max_len
        caches = []
        while len(caches) < len(self.layers):
            caches.append(KVCache(room) if self.window is None else RollingKVCache(self.window, self.sinks))
        return caches

    def forward(self, ids, cache=None):
        new = ids.shape[-1]
        seen = cache[0].length if cache else 0
        kept = cache[0].held if cache else 0
        if seen + new > self.context_length:
            raise ValueError(f"context_length is {self.context_length}, but the text has {seen + new} tokens")
        mask = sliding_window_mask(new, kept + new, window=self.window, sinks=self.sinks, device=ids.device)
        positions = torch.arange(seen + new, device=ids.device)[seen:]
        stream, added = self.token_embeddings(ids), torch.zeros((), dtype=self.lm_head.weight.dtype, device=ids.device)
        for layer, own in zip(self.layers, cache or [None] * len(self.layers), strict=True):
            stream, added = layer.step(stream, added, mask, positions, own)
        return self.lm_head(self.ln_final(stream + added))
