from functools import reduce

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock
from torch import einsum, nn


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, seq_len, dropout=0.1):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, ids, mask=None):
        causal = create_look_ahead_mask(ids.shape[1], ids.device)
        both = causal if mask is None else causal & mask
        x = self.positional_encoding(self.embedding(ids))
        x = reduce(lambda x, layer: layer(x, both), self.layers, x)
        return einsum("btd,vd->btv", x, self.output_projection.weight) + self.output_projection.bias
