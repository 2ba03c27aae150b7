from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, seq_len, dropout=0.1):
        super(LanguageModel, self).__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList()
        for number in range(num_layers):
            self.layers.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, ids, mask=None):
        allowed = create_look_ahead_mask(ids.size(1), ids.device)
        if mask is not None:
            allowed = allowed.logical_and(mask)
        vectors = self.positional_encoding(self.embedding(ids))
        for layer in self.layers:
            vectors = layer(vectors, allowed)
        return self.output_projection(vectors)
