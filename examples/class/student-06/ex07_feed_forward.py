import torch
import torch.nn as nn


class FeedForwardNetwork(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1 = nn.Linear(in_features=d_model, out_features=d_ff)
        self.linear_2 = nn.Linear(in_features=d_ff, out_features=d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        out = torch.relu(self.linear_1(x))  # (batch_size, seq_len, d_ff)
        out = self.dropout(out)
        return self.linear_2(out)  # (batch_size, seq_len, d_model)
