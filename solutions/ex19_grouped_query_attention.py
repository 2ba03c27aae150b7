# %% [markdown]
# # ex19: grouped-query attention

# %%
import torch
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


# %%
def repeat_kv(x: Tensor, groups: int) -> Tensor:
    """Repeat each head `groups` times in a row: (B, G, S, K) -> (B, G * groups, S, K)."""
    # TODO ex19: head h of the result is head h // groups of x.
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
    """Causal self-attention with num_heads query heads and num_kv_heads key-value heads."""

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int | None = None, rope: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.attention_weights: Tensor | None = None
        # TODO ex19: raise ValueError if the numbers do not divide. Then create the layers.
        ### BEGIN SOLUTION
        if num_kv_heads is None:
            num_kv_heads = num_heads
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} cannot be divided among {num_heads} heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} query heads cannot be divided among {num_kv_heads} key-value heads")
        kv_features = d_model // num_heads * num_kv_heads
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.rope = rope
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, kv_features, bias=False)
        self.v_proj = nn.Linear(d_model, kv_features, bias=False)
        self.output_proj = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None, token_positions: Tensor | None = None, cache=None) -> Tensor:
        """Return (B, T, D) for x (B, T, D)."""
        # TODO ex19: project, split, turn, cache, attend, join, mix.
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
        allowed = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)  # (T, S), causal from the end
        if mask is not None:
            allowed = allowed & mask
        groups = self.num_heads // self.num_kv_heads
        heads, weights = scaled_dot_product_attention(
            queries, repeat_kv(keys, groups), repeat_kv(values, groups), allowed
        )  # (B, H, T, K), (B, H, T, S)
        self.attention_weights = weights.detach()
        return self.output_proj(heads.transpose(1, 2).flatten(2))
        ### END SOLUTION
