"""Reference part for ex08."""

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1, self.layer_norm_2 = LayerNormalization(d_model), LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended = self.layer_norm_1(self.dropout(self.attention(x, x, x, mask)).add(x))
        return self.layer_norm_2(self.dropout(self.feed_forward(attended)).add(attended))


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.encoder_blocks = nn.ModuleList()
        for _ in range(num_encoder_blocks):
            self.encoder_blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids, mask=None):
        x = self.positional_encoding(self.embedding(ids))
        for block in self.encoder_blocks:
            x = block(x, mask)
        return self.layer_norm(x)
