# Compare positions for the causal mask, and apply the blocks with `reduce`.
from functools import reduce

import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex08_encoder import EncoderBlock
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, seq_len, dropout=0.1):
        super().__init__()
        self.output_projection = nn.Linear(d_model, vocab_size)
        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.seq_len = seq_len

    def forward(self, ids, mask=None):
        position = torch.arange(ids.size(-1), device=ids.device)
        causal = torch.ge(position.unsqueeze(1), position)
        allowed = causal if mask is None else torch.where(mask, causal, False)
        embedded = self.positional_encoding(self.embedding(ids))
        return self.output_projection(reduce(lambda x, block: block(x, allowed), self.layers, embedded))
