import torch.nn as nn
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock


class LanguageModel(nn.Module):
    "Blocks of the encoder under a causal mask."

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, seq_len, dropout=0.1):
        super(LanguageModel, self).__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, x, mask=None):
        subsequent_mask = create_look_ahead_mask(x.size(-1), x.device)
        if mask is not None:
            subsequent_mask = mask & subsequent_mask
        x = self.positional_encoding(self.embedding(x))
        for layer in self.layers:
            x = layer(x, subsequent_mask)
        return self.output_projection(x)
