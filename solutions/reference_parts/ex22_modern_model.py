"""Reference part for ex22."""

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
        self.ln1, self.ln2 = RMSNorm(d_model, eps), RMSNorm(d_model, eps)
        self.attn = GroupedQueryAttention(d_model, num_heads, num_kv_heads, rope)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, x, mask=None, token_positions=None, cache=None):
        attended = self.attn(self.ln1(x), mask, token_positions, cache).add(x)
        return self.ffn(self.ln2(attended)).add(attended)


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
        self.context_length, self.window, self.sinks = context_length, window, sinks
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embeddings.weight, std=0.02)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            rope = RotaryPositionalEmbedding(rope_theta, d_model // num_heads, context_length)
            self.layers.append(ModernBlock(d_model, num_heads, d_ff, num_kv_heads, rope, eps))
        self.ln_final = RMSNorm(d_model, eps)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        if tie_weights:
            self.lm_head.weight = self.token_embeddings.weight

    def make_cache(self, max_len=None):
        caches = []
        for _ in self.layers:
            if self.window is None:
                caches.append(KVCache(max_len or self.context_length))
            else:
                caches.append(RollingKVCache(self.window, self.sinks))
        return caches

    def forward(self, ids, cache=None):
        before, kept = 0, 0
        if cache:
            before, kept = cache[0].length, cache[0].held
        count = ids.size(1)
        if before + count > self.context_length:
            raise ValueError(f"{before + count} tokens are more than context_length {self.context_length}")
        places = torch.arange(count, device=ids.device) + before
        mask = sliding_window_mask(count, kept + count, self.window, self.sinks, ids.device)
        x = self.token_embeddings(ids)
        at = 0
        for layer in self.layers:
            x = layer(x, mask, places, cache[at] if cache else None)
            at = at + 1
        return self.lm_head(self.ln_final(x))
