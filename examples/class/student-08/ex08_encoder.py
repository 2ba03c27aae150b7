from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super(EncoderBlock, self).__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended = self.attention(x, x, x, mask)
        summed = self.layer_norm_1(x + self.dropout(attended))
        thought = self.feed_forward(summed)
        return self.layer_norm_2(summed + self.dropout(thought))


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len):
        super(Encoder, self).__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.encoder_blocks = nn.ModuleList()
        for number in range(num_encoder_blocks):
            self.encoder_blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids, mask=None):
        vectors = self.embedding(ids)
        vectors = self.positional_encoding(vectors)
        for block in self.encoder_blocks:
            vectors = block(vectors, mask)
        return self.layer_norm(vectors)
