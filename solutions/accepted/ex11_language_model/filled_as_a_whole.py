# The whole model has a from_reference. The embedding table is a parameter, and the mask is a product.
import math

import torch
from ex02_positional_encoding import PositionalEncoding
from ex08_encoder import EncoderBlock
from torch import nn
from torch.nn import functional


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, seq_len, dropout=0.1):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocab_size, d_model))
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.projection = nn.Parameter(torch.randn(d_model, vocab_size) / math.sqrt(d_model))
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def from_reference(self, state):
        with torch.no_grad():
            self.table.copy_(state["embedding.embedding.weight"])
            self.projection.copy_(state["output_projection.weight"].T)
            self.bias.copy_(state["output_projection.bias"])
            for name, parameter in self.layers.named_parameters():
                parameter.copy_(state[f"layers.{name}"])

    def embedding(self, ids):
        return functional.embedding(ids, self.table) * math.sqrt(self.table.size(1))

    def forward(self, ids, mask=None):
        T = ids.size(1)
        allowed = torch.full((T, T), True, device=ids.device).tril()
        if mask is not None:
            allowed = allowed * mask
        x = self.positional_encoding(self.embedding(ids))
        for layer in self.layers:
            x = layer(x, allowed)
        return torch.matmul(x, self.projection) + self.bias
