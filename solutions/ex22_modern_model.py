# %% [markdown]
# # ex22: a modern model

# %%
import torch
from ex16_rms_norm import RMSNorm
from ex17_rotary_positions import RotaryPositionalEmbedding
from ex18_gated_feed_forward import SwiGLU
from ex19_grouped_query_attention import GroupedQueryAttention
from ex20_kv_cache import KVCache
from ex21_sliding_window import RollingKVCache, sliding_window_mask
from torch import Tensor, nn


# %%
class ModernBlock(nn.Module):
    """Attend to earlier tokens, then compute per token; each sublayer reads a normalized input and is added."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_kv_heads: int | None = None,
        rope: nn.Module | None = None,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        # TODO ex22: create ln1, attn, ln2 and ffn.
        ### BEGIN SOLUTION
        self.ln1 = RMSNorm(d_model, eps)
        self.attn = GroupedQueryAttention(d_model, num_heads, num_kv_heads, rope)
        self.ln2 = RMSNorm(d_model, eps)
        self.ffn = SwiGLU(d_model, d_ff)
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        token_positions: Tensor | None = None,
        cache: KVCache | RollingKVCache | None = None,
    ) -> Tensor:
        """Return (B, T, D) for x (B, T, D)."""
        # TODO ex22: add the attention of the normalized x to x, then the feed-forward network of the normalized sum.
        ### BEGIN SOLUTION
        x = x + self.attn(self.ln1(x), mask, token_positions, cache)  # (B, T, D)
        return x + self.ffn(self.ln2(x))  # (B, T, D)
        ### END SOLUTION


class ModernModel(nn.Module):
    """Map ids to logits of the next token, at every position."""

    def __init__(
        self,
        vocab_size: int,
        context_length: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        rope_theta: float = 10000.0,
        num_kv_heads: int | None = None,
        window: int | None = None,
        sinks: int = 0,
        tie_weights: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        # TODO ex22: keep context_length, window and sinks. Create token_embeddings, layers, ln_final and lm_head.
        ### BEGIN SOLUTION
        self.context_length = context_length
        self.window = window
        self.sinks = sinks
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        rope = RotaryPositionalEmbedding(rope_theta, d_model // num_heads, context_length)
        self.layers = nn.ModuleList(
            ModernBlock(d_model, num_heads, d_ff, num_kv_heads, rope, eps) for _ in range(num_layers)
        )
        self.ln_final = RMSNorm(d_model, eps)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.normal_(self.token_embeddings.weight, std=0.02)
        if tie_weights:
            self.lm_head.weight = self.token_embeddings.weight
        ### END SOLUTION

    def make_cache(self, max_len: int | None = None) -> list[KVCache] | list[RollingKVCache]:
        """Return an empty cache for each layer; without max_len, with room for context_length tokens."""
        # TODO ex22: a RollingKVCache if there is a window, else a KVCache. One for each layer.
        ### BEGIN SOLUTION
        if self.window is not None:
            return [RollingKVCache(self.window, self.sinks) for _ in self.layers]
        return [KVCache(max_len or self.context_length) for _ in self.layers]
        ### END SOLUTION

    def forward(self, ids: Tensor, cache: list[KVCache] | list[RollingKVCache] | None = None) -> Tensor:
        """Return logits (B, T, V) for ids (B, T), which go on where the cache ends."""
        # TODO ex22: read length and held of the cache once. Refuse a text that is too long. Then embed, apply the
        # layers with mask, positions and caches, the final norm and the head.
        ### BEGIN SOLUTION
        new = ids.size(1)
        length, held = (cache[0].length, cache[0].held) if cache else (0, 0)
        if length + new > self.context_length:
            raise ValueError(f"{length} + {new} tokens do not fit into context_length {self.context_length}")
        positions = torch.arange(length, length + new, device=ids.device)  # (T,)
        mask = sliding_window_mask(new, held + new, self.window, self.sinks, ids.device)  # (T, held + T)
        x = self.token_embeddings(ids)  # (B, T, D)
        for index, layer in enumerate(self.layers):
            x = layer(x, mask, positions, cache[index] if cache else None)  # (B, T, D)
        return self.lm_head(self.ln_final(x))  # (B, T, V)
        ### END SOLUTION
