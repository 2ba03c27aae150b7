# Part 11: the language model

from typing import Optional

import torch.nn as nn
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock
from torch import Tensor


class LanguageModel(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        seq_len: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        layers = []
        for _ in range(num_layers):
            layers.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.layers = nn.ModuleList(layers)
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        # the causal mask is always needed
        causal_mask = create_look_ahead_mask(ids.shape[1], device=ids.device)
        if mask is None:
            mask = causal_mask
        else:
            mask = mask & causal_mask

        # (batch, seq_len) -> (batch, seq_len, d_model)
        x = self.embedding(ids)
        x = self.positional_encoding(x)
        for layer in self.layers:
            x = layer(x, mask)
        # (batch, seq_len, d_model) -> (batch, seq_len, vocab_size)
        return self.output_projection(x)
