from functools import reduce

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import nn


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads, dropout) for _ in "12")
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1, self.layer_norm_2, self.layer_norm_3 = (LayerNormalization(d_model) for _ in "123")
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, encoder_output, src_mask=None, tgt_mask=None):
        sublayers = (
            (lambda x: self.self_attention(x, x, x, tgt_mask), self.layer_norm_1),
            (lambda x: self.cross_attention(x, encoder_output, encoder_output, src_mask), self.layer_norm_2),
            (self.feed_forward, self.layer_norm_3),
        )
        return reduce(lambda x, step: step[1](x + self.dropout(step[0](x))), sublayers, x)


class Decoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        blocks = (DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks))
        self.decoder_blocks = nn.ModuleList(blocks)
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
        x = self.positional_encoding(self.embedding(ids))
        blocks = self.decoder_blocks
        return self.layer_norm(reduce(lambda x, block: block(x, encoder_output, src_mask, tgt_mask), blocks, x))
