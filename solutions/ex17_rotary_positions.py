# %% [markdown]
# # ex17: rotary positions

# %%
import torch
from torch import Tensor, nn


# %%
class RotaryPositionalEmbedding(nn.Module):
    """Rotate each pair of neighbouring features by an angle that grows with the position (Su et al., equation 34).

    It has no parameters. Tables, if any, are non-persistent buffers, so nothing is saved.
    """

    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        """Raise ValueError with `d_k` if it is odd."""
        super().__init__()
        # TODO ex17: raise the error if d_k is odd, else make the tables of cosines and sines
        ### BEGIN SOLUTION
        if d_k % 2:
            raise ValueError(f"{d_k} features cannot be cut into pairs")
        self.max_seq_len = max_seq_len
        frequencies = theta ** (-torch.arange(0, d_k, 2, dtype=torch.float32) / d_k)  # (K / 2,)
        angles = torch.outer(torch.arange(max_seq_len, dtype=torch.float32), frequencies)  # (N, K / 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        ### END SOLUTION

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        """Turn x (..., T, K) into (..., T, K), in the dtype of x.

        `token_positions` is Long (T,), or (B, T) with B = 1 allowed; None means 0 ... T - 1.
        Raise ValueError with the position and `max_seq_len` if a position is `max_seq_len` or more.
        """
        # TODO ex17: look up the cosines and sines of the positions, then rotate every pair
        ### BEGIN SOLUTION
        if token_positions is None:
            token_positions = torch.arange(x.size(-2), device=x.device)
        if token_positions.numel() and token_positions.max() >= self.max_seq_len:
            raise ValueError(f"position {int(token_positions.max())}, but the table ends before {self.max_seq_len}")
        cos, sin = self.cos[token_positions].to(x.dtype), self.sin[token_positions].to(x.dtype)  # (..., T, K / 2)
        while 2 < cos.dim() < x.dim():  # positions (B, T) serve all heads
            cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, K / 2)
        turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)  # (..., T, K / 2, 2)
        return turned.flatten(-2)  # (..., T, K)
        ### END SOLUTION
