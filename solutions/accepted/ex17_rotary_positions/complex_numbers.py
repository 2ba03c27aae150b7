# As Meta's Llama code has it: a pair is a complex number, and a turn is a product.
import torch
from torch import Tensor, nn


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        super().__init__()
        if d_k % 2 != 0:
            raise ValueError(f"d_k is {d_k}, expected an even number")
        self.limit = max_seq_len
        speeds = 1.0 / theta ** (torch.arange(0, d_k, 2).float() / d_k)
        turns = torch.outer(torch.arange(max_seq_len).float(), speeds)
        self.register_buffer("turns", torch.view_as_real(torch.polar(torch.ones_like(turns), turns)), persistent=False)

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        if token_positions is None:
            if x.shape[-2] > self.limit:
                raise ValueError(f"{x.shape[-2]} tokens, at most {self.limit}")
            turns = self.turns[: x.shape[-2]]
        else:
            turns = self.turns[token_positions]
            if turns.dim() == 4 and x.dim() == 4:
                turns = turns[:, None]
        pairs = torch.view_as_complex(x.to(torch.promote_types(x.dtype, torch.float32)).reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * torch.view_as_complex(turns.to(pairs.real.dtype))).flatten(-2).type_as(x)
