# Two convolutions of width one over the positions, as in section 3.3, filled by from_reference.
import torch
from torch import Tensor, nn


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.widen = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.narrow = nn.Conv1d(d_ff, d_model, kernel_size=1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.widen(x.transpose(1, 2)).relu()
        return self.narrow(self.dropout(hidden)).transpose(1, 2)

    @torch.no_grad()
    def from_reference(self, state: dict[str, Tensor]) -> None:
        for name, layer in (("linear_1", self.widen), ("linear_2", self.narrow)):
            layer.weight.copy_(state[f"{name}.weight"].unsqueeze(-1))
            layer.bias.copy_(state[f"{name}.bias"])
