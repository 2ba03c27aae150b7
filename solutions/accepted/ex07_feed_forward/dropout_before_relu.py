# Dropout comes before the ReLU. The result is the same, because a ReLU keeps zeros and positive factors.
from torch import Tensor, nn


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.activation = nn.ReLU(inplace=True)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear_2(self.activation(self.dropout(self.linear_1(x))))
