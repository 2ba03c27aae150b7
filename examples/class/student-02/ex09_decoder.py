# Part 9: the decoder

from typing import Optional

import torch.nn as nn
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.layer_norm_3 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        encoder_output: Tensor,
        src_mask: Optional[Tensor] = None,
        tgt_mask: Optional[Tensor] = None,
    ) -> Tensor:
        # First residual connection, the target looks at itself
        self_attention_output = self.self_attention(x, x, x, tgt_mask)
        x = self.layer_norm_1(x + self.dropout(self_attention_output))
        # Second residual connection, query from the decoder, key and value from the encoder
        cross_attention_output = self.cross_attention(x, encoder_output, encoder_output, src_mask)
        x = self.layer_norm_2(x + self.dropout(cross_attention_output))
        # Third residual connection, around the feed-forward network
        feed_forward_output = self.feed_forward(x)
        x = self.layer_norm_3(x + self.dropout(feed_forward_output))
        return x


class Decoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        num_decoder_blocks: int,
        seq_len: int,
    ) -> None:
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        decoder_blocks = []
        for _ in range(num_decoder_blocks):
            decoder_blocks.append(DecoderBlock(d_model, num_heads, d_ff, dropout))
        self.decoder_blocks = nn.ModuleList(decoder_blocks)
        self.layer_norm = LayerNormalization(d_model)

    def forward(
        self,
        ids: Tensor,
        encoder_output: Tensor,
        src_mask: Optional[Tensor] = None,
        tgt_mask: Optional[Tensor] = None,
    ) -> Tensor:
        # (batch, seq_len) -> (batch, seq_len, d_model)
        x = self.embedding(ids)
        x = self.positional_encoding(x)
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask, tgt_mask)
        return self.layer_norm(x)
