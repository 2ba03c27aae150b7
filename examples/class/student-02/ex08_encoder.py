# Part 8: the encoder

from typing import Optional

import torch.nn as nn
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        # First residual connection, around the attention
        attention_output = self.attention(x, x, x, mask)
        x = self.layer_norm_1(x + self.dropout(attention_output))
        # Second residual connection, around the feed-forward network
        feed_forward_output = self.feed_forward(x)
        x = self.layer_norm_2(x + self.dropout(feed_forward_output))
        return x


class Encoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        num_encoder_blocks: int,
        seq_len: int,
    ) -> None:
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        # a normal list would hide the parameters from PyTorch
        encoder_blocks = []
        for _ in range(num_encoder_blocks):
            encoder_blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.encoder_blocks = nn.ModuleList(encoder_blocks)
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        # (batch, seq_len) -> (batch, seq_len, d_model)
        x = self.embedding(ids)
        x = self.positional_encoding(x)
        for block in self.encoder_blocks:
            x = block(x, mask)
        return self.layer_norm(x)
