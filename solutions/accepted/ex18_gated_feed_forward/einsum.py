# Products by einsum, and a sigmoid in float32.
import torch
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, False)
        self.w3 = nn.Linear(d_model, d_ff, False)
        self.w2 = nn.Linear(d_ff, d_model, False)

    def forward(self, x: Tensor) -> Tensor:
        opening = torch.einsum("...d,fd->...f", x, self.w1.weight)
        share = opening.to(torch.promote_types(x.dtype, torch.float32)).sigmoid().to(x.dtype)
        return torch.einsum(
            "...f,...f,...f,df->...d", opening, share, torch.einsum("...d,fd->...f", x, self.w3.weight), self.w2.weight
        )
