from torch import nn, Tensor

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork


class DecoderBlock(nn.Module):

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_3 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, encoder_output: Tensor, src_mask=None, tgt_mask=None) -> Tensor:
        mem = encoder_output
        x = self.layer_norm_1(x + self.dropout(self.self_attention(x, x, x, tgt_mask)))
        x = self.layer_norm_2(x + self.dropout(self.cross_attention(x, mem, mem, src_mask)))
        x = self.layer_norm_3(x + self.dropout(self.feed_forward(x)))
        return x


class Decoder(nn.Module):

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int, dropout: float,
                 num_decoder_blocks: int, seq_len: int):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.decoder_blocks = nn.ModuleList(
            [DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks)])
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids: Tensor, encoder_output: Tensor, src_mask=None, tgt_mask=None) -> Tensor:
        x = self.positional_encoding(self.embedding(ids))  # (B, T, D)
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask, tgt_mask)
        return self.layer_norm(x)
