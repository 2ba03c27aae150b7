# The layers have their names and are also members of an nn.Sequential.
from torch import Tensor, nn


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.steps = nn.Sequential(self.linear_1, nn.ReLU(), self.dropout, self.linear_2)

    def forward(self, x: Tensor) -> Tensor:
        return self.steps(x)
