# Functions in place of module calls. The modules only store the parameters and the rate.
import torch.nn.functional as F
from torch import Tensor, nn


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.linear_1 = nn.Linear(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.relu(F.linear(x, self.linear_1.weight, self.linear_1.bias))
        hidden = F.dropout(hidden, self.dropout.p, training=self.training)
        return F.linear(hidden, self.linear_2.weight, self.linear_2.bias)
