"""ex07: the feed-forward network."""

import torch
from torch import Tensor, nn


class FeedForwardNetwork(nn.Module):
    """Two linear layers with a ReLU between them, for each token on its own."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        # From D features up to F hidden ones ...
        self.linear_1 = nn.Linear(d_model, d_ff)
        # ... and back again.
        self.linear_2 = nn.Linear(d_ff, d_model)

        # Drops some of the hidden features in training.
        self.dropout = nn.Dropout(dropout)

    def hidden_features(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into the hidden features (..., F)."""
        hidden = self.linear_1(x)
        hidden = torch.relu(hidden)
        return self.dropout(hidden)

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D)."""
        hidden = self.hidden_features(x)
        output = self.linear_2(hidden)
        return output
