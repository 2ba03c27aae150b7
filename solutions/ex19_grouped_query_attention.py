# %% [markdown]
# # ex19: grouped-query attention
#
# A model that writes text looks back at every earlier token in each step. So it stores the keys and
# values of all earlier tokens, in every layer. In multi-head attention (ex06), each of the $H$
# heads has keys and values of its own. For long texts, this store becomes very large. Llama 2 with
# 70 billion parameters has 80 layers and 64 heads of 128 features. With keys and values for every
# head, a token needs 2 · 80 · 64 · 128 numbers. In half precision this is 2.6 MB.
#
# In *grouped-query attention* several query heads share one key-value head (Ainslie et al. 2023,
# "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", section
# 2.2). There are $G$ key-value heads for $H$ query heads, so each serves a group of $M = H / G$:
#
# $$\mathrm{head}_h = \mathrm{Attention}\left(X W^Q_h,\; X W^K_{\lfloor h / M \rfloor},\;
# X W^V_{\lfloor h / M \rfloor}\right)$$
#
# With $G = 8$, a token of that Llama needs 0.33 MB. Llama 2 does exactly this. $G = H$ is
# multi-head attention again, and $G = 1$ is *multi-query attention* (Shazeer 2019, "Fast
# Transformer Decoding: One Write-Head is All You Need", section 3).
#
# | tensor | shape |
# |---|---|
# | input `x` | `(B, T, D)`, with `D = H * K` |
# | queries | `(B, H, T, K)` |
# | new keys and values, which the cache gets | `(B, G, T, K)` |
# | keys and values of the past and the new tokens | `(B, G, S, K)` |
# | scores, weights | `(B, H, T, S)` |
#
# **Which head reads which.** Query head `h` reads key-value head `h // M`: the group is *M heads in
# a row*. The other convention is to tile, `h % G`; an early text of ONNX has it. It is the same
# attention with its heads in another order. But trained weights fit only one of the two. This
# course repeats in a row, as Llama does.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Linear(m, n, bias=False)`] | a trained layer from `m` to `n` features without a bias |
# | [`x.view(*sizes)`], [`x.transpose(i, j)`] | divide the numbers into axes; swap two axes |
# | [`x.repeat_interleave(n, dim)`] | repeats every element of an axis `n` times: 0 0 1 1 |
# | [`x.expand(*sizes)`] | repeats an axis of size 1 without a copy |
# | [`torch.arange(start, end)`] | the whole numbers from `start` to `end - 1` |
# | [`x.tril(diagonal)`] | keeps what lies on and below a diagonal; 0 is the main one, 1 the next to the right |
#
# [`nn.Linear(m, n, bias=False)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
# [`x.view(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
# [`x.transpose(i, j)`]: https://docs.pytorch.org/docs/stable/generated/torch.transpose.html
# [`x.repeat_interleave(n, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.repeat_interleave.html
# [`x.expand(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html
# [`torch.arange(start, end)`]: https://docs.pytorch.org/docs/stable/generated/torch.arange.html
# [`x.tril(diagonal)`]: https://docs.pytorch.org/docs/stable/generated/torch.tril.html
#
# **Positions.** A `rope` (ex17) rotates queries and keys before the scores, and never the values.
# It gets heads, `(B, H, T, K)`, so it comes after the split. It also gets the positions of the
# tokens in the text, for queries and keys the same ones.
#
# **The cache.** Call `keys, values = cache.update(keys, values)` if there is a `cache`. The new
# keys and values go in, and all of them come out. It stores `G` heads, not `H`; that is the whole
# point. It stores rotated keys, so no key is ever rotated again. Before the update, `cache.length`
# is the number of tokens in the text so far. So the new ones have the positions `cache.length`,
# `cache.length + 1` and so on. You write the cache itself in ex20.
#
# **Causal from the end.** With a cache there are fewer queries than keys. The `T` queries are the
# *last* `T` of the `S` tokens. Query `i` has the position `S - T + i`, and sees all keys up to
# there. Here are 2 queries and 5 keys:
#
# ```text
#   from the end         from the start
#   [x x x x .]          [x . . . .]
#   [x x x x x]          [x x . . .]
# ```
#
# `is_causal` of PyTorch's own attention counts from the start if `T` is less than `S`. In a step
# with one new token, its query would see only the first key of the text.
#
# **No bias.** None of the four projections has one, and there is no dropout. The names are those of
# CS336's state dicts.

# %% [markdown]
# ## Four query heads, two key-value heads
#
# Here `D = 4`, `H = 4` and `G = 2`, so `K = 1` and `M = 2`. `q_proj` and `output_proj` are identity
# matrices. Key head 0 is feature 0 of the input, and key head 1 is feature 2. Value head 0 is
# feature 1, and value head 1 is feature 3:
#
# ```text
#              x         queries       keys     values
#   token 0    [1 0 2 1]    [1 0 2 1]     [1 2]    [0 1]
#   token 1    [0 1 1 2]    [0 1 1 2]     [0 1]    [1 2]
#
#   token 1    query    reads       scores    weights             output
#   head 0     0        kv head 0   [0 0]     [0.500 0.500]     0.500
#   head 1     1        kv head 0   [1 0]     [0.731 0.269]     0.269
#   head 2     1        kv head 1   [2 1]     [0.731 0.269]     1.269
#   head 3     2        kv head 1   [4 2]     [0.881 0.119]     1.119
# ```
#
# The output of token 1 is [0.500 0.269 1.269 1.119]. Token 0 sees only itself, so its heads return
# their values: [0 0 1 1]. With tiled heads, head 1 would read key-value head 1, and head 2 would
# read key-value head 0. The output of token 1 would be [0.500 1.269 0.269 1.119].

# %%
from typing import Any

import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn

# %% [markdown]
# Keys and values have `G` heads, but ex05 needs one for every query head. So repeat them just
# before the attention. (A kernel that knows groups reads them without a copy. You may do that too.)


# %%
def repeat_kv(x: Tensor, groups: int) -> Tensor:
    """Repeat each head `groups` times in a row: (B, G, S, K) -> (B, G * groups, S, K).

    Head h of the result is head h // groups of x.
    """
    # TODO ex19: repeat along the head axis, every head by itself.
    ### BEGIN SOLUTION
    return x.repeat_interleave(groups, dim=1)
    ### END SOLUTION


# %%
### BEGIN SOLUTION
def split_into_heads(x: Tensor, num_heads: int) -> Tensor:
    """Split the features into heads and move the head axis next to the batch: (B, T, H * K) -> (B, H, T, K)."""
    B, T, _ = x.shape
    return x.view(B, T, num_heads, -1).transpose(1, 2)


### END SOLUTION
class GroupedQueryAttention(nn.Module):
    """Causal self-attention: num_heads query heads share num_kv_heads key-value heads (GQA, section 2.2).

    Attributes:
        q_proj: an `nn.Linear` from D to H * K. Head h owns the columns h*K to (h+1)*K - 1.
        k_proj, v_proj: an `nn.Linear` each from D to G * K, in heads like q_proj.
        output_proj: an `nn.Linear` from H * K to D. No projection has a bias.
        num_heads, num_kv_heads: H and G.
        rope: the module that rotates queries and keys, called as `rope(x, token_positions)`, or None.
        attention_weights: the weights of the last call, (B, H, T, S), detached.

    Not allowed: `nn.MultiheadAttention`, `F.scaled_dot_product_attention` and every other attention of the library.
    """

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int | None = None, rope: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.attention_weights: Tensor | None = None
        # TODO ex19: num_kv_heads None means num_heads. Raise ValueError with both numbers if num_heads does not divide
        # d_model, or num_kv_heads does not divide num_heads. Then create the four projections.
        ### BEGIN SOLUTION
        if num_kv_heads is None:
            num_kv_heads = num_heads
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} cannot be divided among {num_heads} heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} query heads cannot be divided among {num_kv_heads} key-value heads")
        kv_features = num_kv_heads * (d_model // num_heads)
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.rope = rope
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, kv_features, bias=False)
        self.v_proj = nn.Linear(d_model, kv_features, bias=False)
        self.output_proj = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(
        self, x: Tensor, mask: Tensor | None = None, token_positions: Tensor | None = None, cache: Any = None
    ) -> Tensor:
        """Return (B, T, D) for x (B, T, D).

        The T queries are the last of the S keys. Each sees the keys up to its own position, if the mask also allows
        it: Bool, with 2, 3 or 4 axes as in ex05. token_positions is Long (T,) or (B, T). Without it, positions go on
        from `cache.length`, or from 0. The cache is an object with `length` and `update(keys, values)`; it gets the
        rotated keys in G heads.
        """
        # TODO ex19: project, split into heads, rotate queries and keys, update the cache, attend causally from the end,
        # concatenate the heads, mix. Store the detached weights.
        ### BEGIN SOLUTION
        T = x.size(1)
        queries = split_into_heads(self.q_proj(x), self.num_heads)  # (B, H, T, K)
        keys = split_into_heads(self.k_proj(x), self.num_kv_heads)  # (B, G, T, K)
        values = split_into_heads(self.v_proj(x), self.num_kv_heads)  # (B, G, T, K)
        if self.rope is not None:
            if token_positions is None:
                start = 0 if cache is None else cache.length
                token_positions = torch.arange(start, start + T, device=x.device)  # (T,)
            queries = self.rope(queries, token_positions)
            keys = self.rope(keys, token_positions)
        if cache is not None:
            keys, values = cache.update(keys, values)  # (B, G, S, K) both
        S = keys.size(2)
        allowed = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)  # (T, S)
        if mask is not None:
            allowed = allowed & mask  # (T, S), (B, T, S) or (B, H, T, S)
        groups = self.num_heads // self.num_kv_heads
        keys, values = repeat_kv(keys, groups), repeat_kv(values, groups)  # (B, H, S, K) both
        heads, weights = scaled_dot_product_attention(queries, keys, values, allowed)  # (B, H, T, K), (B, H, T, S)
        self.attention_weights = weights.detach()
        merged = heads.transpose(1, 2).flatten(2)  # (B, T, D)
        return self.output_proj(merged)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Multi-head attention can become grouped-query attention without training from the start. The paper
# takes the mean of the keys' matrices in each group (section 2.1). Make two modules of 8 heads, one
# with 8 and one with 2 key-value heads. Copy the weights, with the mean of each group for `k_proj`
# and `v_proj`. How far apart are their outputs? Compare with a module whose keys and values are
# only the first head of each group.
