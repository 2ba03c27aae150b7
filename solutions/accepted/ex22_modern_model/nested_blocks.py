# The mask is the only thing handed on: positions are left to the attention and its cache.
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
        parts = {
            "ln1": RMSNorm(d_model, eps),
            "attn": GroupedQueryAttention(d_model, num_heads, num_kv_heads, rope),
            "ln2": RMSNorm(d_model, eps),
            "ffn": SwiGLU(d_model, d_ff),
        }
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x, mask=None, token_positions=None, cache=None):
        after = x + self.attn(self.ln1(x), mask, token_positions, cache)
        return after + self.ffn(self.ln2(after))


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
        rope = RotaryPositionalEmbedding(rope_theta, d_model // num_heads, context_length)
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            [ModernBlock(d_model, num_heads, d_ff, num_kv_heads, rope, eps) for _ in range(num_layers)]
        )
        self.ln_final = RMSNorm(d_model, eps)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        for table in (self.token_embeddings.weight, self.lm_head.weight):
            nn.init.uniform_(table, -0.05, 0.05)
        self.lm_head.weight = self.token_embeddings.weight if tie_weights else self.lm_head.weight
        self.context_length = context_length
        self.window = window
        self.sinks = sinks

    def make_cache(self, max_len=None):
        if self.window is None:
            return [KVCache(max_len if max_len else self.context_length) for _ in self.layers]
        return [RollingKVCache(self.window, self.sinks) for _ in self.layers]

    def forward(self, ids, cache=None):
        first = cache[0] if cache else None
        before = first.length if first else 0
        whole = before + ids.size(1)
        if whole > self.context_length:
            raise ValueError(f"context_length {self.context_length} is less than {whole}")
        columns = ids.size(1) + (first.held if first else 0)
        mask = sliding_window_mask(ids.size(1), columns, self.window, self.sinks, ids.device)
        x = self.token_embeddings(ids)
        for number, layer in enumerate(self.layers):
            x = layer(x, mask=mask, cache=None if not cache else cache[number])
        return self.lm_head(self.ln_final(x))
