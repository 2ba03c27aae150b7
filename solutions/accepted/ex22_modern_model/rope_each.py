# A rope for each layer, a tuple of caches, weights drawn by apply(), and the head as a product with the tied table.
import torch
from ex16_rms_norm import RMSNorm
from ex17_rotary_positions import RotaryPositionalEmbedding
from ex18_gated_feed_forward import SwiGLU
from ex19_grouped_query_attention import GroupedQueryAttention
from ex20_kv_cache import KVCache
from ex21_sliding_window import RollingKVCache, sliding_window_mask
from torch import Tensor, nn


class ModernBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_kv_heads=None, rope=None, eps=1e-5):
        super().__init__()
        self.attn = GroupedQueryAttention(d_model, num_heads, num_kv_heads=num_kv_heads, rope=rope)
        self.ffn = SwiGLU(d_model, d_ff)
        self.ln1, self.ln2 = RMSNorm(d_model, eps=eps), RMSNorm(d_model, eps=eps)

    def forward(self, x, mask=None, token_positions=None, cache=None):
        attended = self.attn(self.ln1(x), mask=mask, token_positions=token_positions, cache=cache)
        x = torch.add(x, attended)
        return torch.add(x, self.ffn(self.ln2(x)))


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
        self.window, self.sinks = window, sinks
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        blocks = []
        for _ in range(num_layers):
            rope = RotaryPositionalEmbedding(rope_theta, d_model // num_heads, context_length)
            blocks.append(ModernBlock(d_model, num_heads, d_ff, num_kv_heads, rope=rope, eps=eps))
        self.layers = nn.ModuleList(blocks)
        self.ln_final = RMSNorm(d_model, eps)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.apply(self.start)
        if tie_weights:
            self.token_embeddings.weight = self.lm_head.weight

    @staticmethod
    def start(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(module.weight, std=0.02, a=-0.06, b=0.06)

    def make_cache(self, max_len=None):
        if max_len is None:
            max_len = self.context_length
        make = (lambda: KVCache(max_len)) if self.window is None else (lambda: RollingKVCache(self.window, self.sinks))
        return tuple(make() for _ in self.layers)

    def forward(self, ids: Tensor, cache=None) -> Tensor:
        _B, T = ids.shape
        caches = cache or (None,) * len(self.layers)
        first = next(iter(caches), None)
        start = 0 if first is None else first.length
        if start + T > self.context_length:
            raise ValueError(f"a text of {start} + {T} tokens, but context_length is {self.context_length}")
        positions = start + torch.arange(T, device=ids.device)[None]  # (1, T)
        mask = None
        if self.window is not None:
            held = 0 if first is None else first.held
            mask = sliding_window_mask(T, held + T, self.window, self.sinks, device=ids.device)
        x = self.token_embeddings(ids)
        for layer, own in zip(self.layers, caches, strict=True):
            x = layer(x, mask, positions, own)
        return self.ln_final(x) @ self.lm_head.weight.T
