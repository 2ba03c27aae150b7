import torch, math
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, seq_len, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        pos = torch.arange(seq_len).float()[:, None]
        i2 = torch.arange(0, d_model, 2).float()
        div = torch.exp(i2 * (math.log(10000) / d_model))
        pe = torch.zeros(seq_len, d_model)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)[:, :d_model // 2]
        self.register_buffer("pe", pe[None])

    def forward(self, x):
        return self.dropout(x + self.pe[:, :x.shape[1]])
