"""The feed-forward network as a named nn.Sequential."""

from collections import OrderedDict

from torch import nn


class FeedForwardNetwork(nn.Sequential):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__(
            OrderedDict(
                linear_1=nn.Linear(d_model, d_ff),
                relu=nn.ReLU(),
                dropout=nn.Dropout(dropout),
                linear_2=nn.Linear(d_ff, d_model),
            )
        )
