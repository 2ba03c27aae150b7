import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    "Sinusoidal positions, added to the embeddings."

    def __init__(self, d_model, seq_len, dropout=0.1):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(p=dropout)

        # 1 / 10000^(2i/d) as exp(-2i/d * log 10000)
        pe = torch.zeros(seq_len, d_model)
        position = torch.arange(0, seq_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]  # odd d_model
        pe = pe.unsqueeze(0)
        self.register_buffer("pe", pe)

    def forward(self, x):
        if x.size(1) > self.pe.size(1):
            raise ValueError("sequence length %d > max length %d" % (x.size(1), self.pe.size(1)))
        x = x + self.pe[:, : x.size(1)].requires_grad_(False)
        return self.dropout(x)
