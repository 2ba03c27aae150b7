# The rope is built at the first call and handed on then; forward is split into steps; the residual is a function.
import torch
from ex16_rms_norm import RMSNorm
from ex17_rotary_positions import RotaryPositionalEmbedding
from ex18_gated_feed_forward import SwiGLU
from ex19_grouped_query_attention import GroupedQueryAttention
from ex20_kv_cache import KVCache
from ex21_sliding_window import RollingKVCache, sliding_window_mask
from torch import nn


def residual(x, norm, sublayer, *arguments):
    return x + sublayer(norm(x), *arguments)


class ModernBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_kv_heads=None, rope=None, eps=1e-5):
        super().__init__()
        norms = nn.ModuleList(RMSNorm(d_model, eps) for _ in range(2))
        self.ln1, self.ln2 = norms
        self.attn = GroupedQueryAttention(d_model, num_heads, num_kv_heads, rope)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, x, mask=None, token_positions=None, cache=None):
        x = residual(x, self.ln1, self.attn, mask, token_positions, cache)
        return residual(x, self.ln2, self.ffn)


class LazyRope(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.sizes = sizes
        self.made = {}

    def forward(self, x, token_positions=None):
        if x.device not in self.made:
            self.made[x.device] = RotaryPositionalEmbedding(*self.sizes).to(x.device)
        return self.made[x.device](x, token_positions)


class ModernModel(nn.Module):
    def __init__(self, vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta=10000.0, **options):
        super().__init__()
        known = {"num_kv_heads": None, "window": None, "sinks": 0, "tie_weights": False, "eps": 1e-5}
        options = {**known, **options}
        self.context_length = context_length
        self.reach = {"window": options["window"], "sinks": options["sinks"]}
        rope = LazyRope(rope_theta, d_model // num_heads, context_length)
        self.token_embeddings = nn.Embedding(vocab_size, d_model, _weight=0.02 * torch.randn(vocab_size, d_model))
        self.layers = nn.ModuleList(
            ModernBlock(d_model, num_heads, d_ff, options["num_kv_heads"], rope, options["eps"])
            for _ in range(num_layers)
        )
        self.ln_final = RMSNorm(d_model, options["eps"])
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        if options["tie_weights"]:
            self.lm_head.weight = self.token_embeddings.weight

    def make_cache(self, max_len=None):
        if self.reach["window"]:
            return [RollingKVCache(**self.reach) for _ in self.layers]
        return list(map(KVCache, [max_len or self.context_length] * len(self.layers)))

    def where(self, ids, cache):
        """Return how many tokens came before, and the mask."""
        length, held = (cache[0].length, cache[0].held) if cache else (0, 0)
        T = ids.size(1)
        if self.context_length < length + T:
            raise ValueError(f"the text would have {length + T} tokens, more than {self.context_length}")
        return length, sliding_window_mask(T, held + T, **self.reach, device=ids.device)

    def hidden(self, ids, cache):
        length, mask = self.where(ids, cache)
        positions = torch.arange(ids.size(1), device=ids.device) + length
        x = self.token_embeddings(ids)
        for i in range(len(self.layers)):
            x = self.layers[i](x, mask, positions.expand(ids.size(0), -1), cache[i] if cache else None)
        return x

    def forward(self, ids, cache=None):
        return self.lm_head(self.ln_final(self.hidden(ids, cache)))
