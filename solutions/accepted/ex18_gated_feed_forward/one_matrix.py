# Gates and values come from one matrix, filled by from_reference.
import torch
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate_up = nn.Linear(d_model, 2 * d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)
        self.activation = nn.SiLU()

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.gate_up.weight.copy_(torch.cat([state["w1.weight"], state["w3.weight"]]))
            self.down.weight.copy_(state["w2.weight"])

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(self.activation(gate) * up)
