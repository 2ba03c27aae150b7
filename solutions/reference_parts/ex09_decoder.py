"""Reference part for ex09."""

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import nn


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1, self.layer_norm_2 = LayerNormalization(d_model), LayerNormalization(d_model)
        self.layer_norm_3 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, encoder_output, src_mask=None, tgt_mask=None):
        own = self.layer_norm_1(self.dropout(self.self_attention(x, x, x, tgt_mask)).add(x))
        looked = self.cross_attention(own, encoder_output, encoder_output, src_mask)
        read = self.layer_norm_2(self.dropout(looked).add(own))
        return self.layer_norm_3(self.dropout(self.feed_forward(read)).add(read))


class Decoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.decoder_blocks = nn.ModuleList()
        for _ in range(num_decoder_blocks):
            self.decoder_blocks.append(DecoderBlock(d_model, num_heads, d_ff, dropout))
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
        x = self.positional_encoding(self.embedding(ids))
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask, tgt_mask)
        return self.layer_norm(x)
