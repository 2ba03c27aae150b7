# %% [markdown]
# # ex22: a modern model
#
# Your parts of ex16 to ex21 now become one model. It is the language model of ex11 with newer parts
# inside. This architecture is Llama's (Touvron et al. 2023, arXiv 2302.13971, section 2.2). Many
# open models of today differ from it only in details:
#
# | | ex11, as in 2017 | here, as in Llama |
# |---|---|---|
# | norm | layer norm after each sum (*post-norm*) | RMSNorm before each sublayer (*pre-norm*), ex16 |
# | positions | added to the embeddings | queries and keys are rotated in every layer, ex17 |
# | feed-forward | ReLU | SwiGLU, ex18 |
# | attention | a key-value head per query head | fewer key-value heads, ex19 |
# | biases, dropout | yes | none, so training mode and evaluation mode are the same |
# | embeddings | multiplied by $\sqrt{D}$ | not scaled |
#
# A block adds two sublayers to its input (Xiong et al. 2020, arXiv 2002.04745):
#
# $$x' = x + \mathrm{Attention}(\mathrm{RMSNorm}_1(x)), \qquad
# \mathrm{Block}(x) = x' + \mathrm{SwiGLU}(\mathrm{RMSNorm}_2(x'))$$
#
# $$\mathrm{logits} = W_{\mathrm{head}}\,\mathrm{RMSNorm}_{\mathrm{final}}(\mathrm{Block}_L(\ldots
# \mathrm{Block}_1(\mathrm{Embedding}(y))))$$
#
# | tensor | shape | what it is |
# |---|---|---|
# | `ids` $y$ | `(B, T)` | the new tokens |
# | `x` | `(B, T, D)` | the *residual stream*: each sublayer reads it and adds to it |
# | `token_positions` | `(T,)` | the positions of the new tokens in the text |
# | mask | `(T, held + T)` | which new token may see which key |
# | logits | `(B, T, V)` | at every position, a score for each token as the next one |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Embedding(V, D)`] | a table with one row per token, `D` wide; its `weight` is `(V, D)` |
# | [`nn.init.normal_(w, std=s)`] | draws new values for a parameter, normally distributed |
# | `a.weight = b.weight` | makes one parameter serve two layers |
# | [`torch.arange(a, b, device=d)`] | the whole numbers from `a` to `b - 1` on the device `d` |
#
# [`nn.Embedding(V, D)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html
# [`nn.init.normal_(w, std=s)`]: https://docs.pytorch.org/docs/stable/nn.init.html#torch.nn.init.normal_
# [`torch.arange(a, b, device=d)`]: https://docs.pytorch.org/docs/stable/generated/torch.arange.html

# %% [markdown]
# ## Why the norm comes first
#
# In a post-norm block every sum is normalized, and so is the way back of the gradient. In a
# pre-norm block nothing interrupts the sum. The embedding passes through all layers, and each
# sublayer adds its part. Deep models then train without a careful warm-up. The price: the last sum
# is not normalized. So one more norm follows the last block, before the head.
#
# *Other convention:* post-norm, in the paper of 2017 and in ex08. PaLM computes both sublayers from
# the same normalized input, side by side. Gemma multiplies the embeddings by $\sqrt{D}$. With the
# same weights these are other functions.
#
# **A block by hand.** One token with $D = 2$, and all norm weights are one. A single token attends
# only to itself. Let the attention return what it gets, and let $F = 1$ with `w1 = [10 0]`,
# `w3 = [0 1]` and `w2 = [1 0]`:
#
# ```text
#   x                           [1.000 7.000]
#   ln1: divided by 5           [0.200 1.400]     (1 + 49) / 2 = 25
#   x + attention               [1.200 8.400]
#   ln2: divided by 6           [0.200 1.400]     (1.44 + 70.56) / 2 = 36
#   gate 2, value 1.4           2.466             silu(2) · 1.4 = 1.762 · 1.4
#   block                       [3.666 8.400]
# ```
#
# **The model by hand**, without a block. There are three tokens, and the ids are `[0 2]`:
#
# ```text
#   token_embeddings    lm_head      ids 0 and 2    ln_final
#   0 [1 7]             [1  0]       [1 7]          [0.200 1.400]
#   1 [0 2]             [0  1]       [1 1]          [1.000 1.000]
#   2 [1 1]             [1 -1]
#
#   logits                         probabilities of the next token
#     [0.200 1.400 -1.200]           [0.219 0.727 0.054]
#     [1.000 1.000  0.000]           [0.422 0.422 0.155]
# ```

# %% [markdown]
# ## Tied weights
#
# The embedding has one row of `D` numbers per token, and so has the head. With `tie_weights=True`
# they are the same parameter (Press and Wolf 2016, arXiv 1608.05859). It is counted once, and it is
# trained by both uses. A copy is equal only until the first step.
#
# The two uses want rows of different size. Above, the tied logits of token 0 are `[10 2.8 1.6]`:
# the model is sure that token 0 follows itself. `nn.Embedding` starts with rows of variance 1. The
# logit of a token after itself is then near $D$ if few layers come between. The first loss is
# many times $\ln V$, the loss of pure guessing. Small rows solve this: GPT-2 starts with a standard
# deviation of 0.02. The first norm makes up for the size.
#
# Tied or not, the loss of a new model on random ids is below $\ln V + 1$. All else about initial
# values is free.
#
# ## The cache goes through the model
#
# `make_cache` returns one cache per layer, since each layer has its own keys. Without a window it
# is a `KVCache` (ex20), with a window a `RollingKVCache` (ex21). A text of seven tokens in three
# calls, then the same with `window=3`:
#
# ```text
#                            no window               window = 3
#   call       positions     held   mask             held   mask
#   4 tokens   0 1 2 3       0      (4, 4)           0      (4, 4)
#   1 token    4             4      (1, 5)           3      (1, 4)
#   2 tokens   5 6           5      (2, 7)           3      (2, 5)
# ```
#
# - **Positions go on from `length`**, the number of tokens seen. A rolling cache holds fewer keys
#   than it has seen, and `length` still counts them all.
# - **The mask has `held + T` columns**: ex21's mask, with and without a window.
# - **Read both numbers once, before the first layer.** Each layer updates its cache. After the
#   first layer, `cache[0].length` already counts the new tokens.
# - **Refuse first.** A text beyond `context_length` raises an error before any layer writes. So the
#   caches are unchanged after the error.

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
    """Attend to earlier tokens, then compute per token; each sublayer reads a norm of x and adds to x (pre-norm).

    Attributes:
        ln1, ln2: `RMSNorm` (ex16) with `eps`, before the attention and before the feed-forward network.
        attn: `GroupedQueryAttention` (ex19) with `num_kv_heads` and `rope`.
        ffn: `SwiGLU` (ex18).

    Not allowed, here and below: `transformers`, `torchtune`, `nn.Transformer*`, every attention and norm of PyTorch.
    """

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
        """Return (B, T, D) for x (B, T, D). The attention gets mask, token_positions and cache, as in ex19."""
        # TODO ex22: add the attention of a normalized x. Then add the feed-forward network of the normalized sum.
        ### BEGIN SOLUTION
        x = x + self.attn(self.ln1(x), mask, token_positions, cache)  # (B, T, D)
        return x + self.ffn(self.ln2(x))  # (B, T, D)
        ### END SOLUTION


# %%
class ModernModel(nn.Module):
    """Map ids to logits of the next token, at every position (Touvron et al. 2023, section 2.2).

    Attributes:
        context_length: the longest text.
        token_embeddings: `nn.Embedding`, V rows of D numbers, not scaled.
        layers: `nn.ModuleList` of `num_layers` blocks, each with its own parameters. 0 blocks are fine.
        ln_final: `RMSNorm` (ex16). All norms get `eps`.
        lm_head: `nn.Linear` from D to V without a bias. With `tie_weights`, its weight is that of token_embeddings.

    `rope_theta` is the base of the rotary positions (ex17) of a head. `window` and `sinks` are those of ex21.
    The loss of a new model on random ids is below ln V + 1, tied or not.
    """

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
        # TODO ex22: store context_length, window and sinks. Create token_embeddings, layers, ln_final and lm_head.
        # Start the embeddings small. Tie the weights if asked.
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
        """Return a list with one empty cache per layer.

        With a window it is a `RollingKVCache`. Without one it is a `KVCache` for `max_len` tokens, by default for
        `context_length`.
        """
        # TODO ex22: create a new cache for each layer.
        ### BEGIN SOLUTION
        if self.window is not None:
            return [RollingKVCache(self.window, self.sinks) for _ in self.layers]
        return [KVCache(max_len or self.context_length) for _ in self.layers]
        ### END SOLUTION

    def forward(self, ids: Tensor, cache: list[KVCache] | list[RollingKVCache] | None = None) -> Tensor:
        """Return logits (B, T, V) for ids (B, T). With a cache, the ids continue the text that it has seen.

        Raise ValueError with both numbers if the whole text is longer than `context_length`. The caches are then as
        before.
        """
        # TODO ex22: read length and held of the first cache. Refuse a text that is too long. Make positions and mask.
        # Then embed the ids, apply the layers, the final norm and the head. No softmax.
        ### BEGIN SOLUTION
        T = ids.size(1)
        length, held = (cache[0].length, cache[0].held) if cache else (0, 0)
        if length + T > self.context_length:
            raise ValueError(f"{length + T} tokens are more than context_length {self.context_length}")
        positions = torch.arange(length, length + T, device=ids.device)  # (T,)
        mask = sliding_window_mask(T, held + T, self.window, self.sinks, ids.device)  # (T, held + T)
        x = self.token_embeddings(ids)  # (B, T, D)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, positions, cache[i] if cache else None)  # (B, T, D)
        return self.lm_head(self.ln_final(x))  # (B, T, V)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Make a model with `num_layers=2` and a text of 40 tokens. Compute the logits in one pass, then in
# chunks of 1, 3 and 7 tokens through one cache. How far apart are they? Why not exactly equal?
#
# Set `tie_weights=True`, and draw the embeddings with a standard deviation of 1. What is the loss
# before training? Try `num_layers` from 0 to 8. Why does it fall with more layers?
