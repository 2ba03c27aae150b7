# One extra dropout per sublayer, in-place sums, and blocks copied from the first.
import copy

import ex01_embeddings
import ex02_positional_encoding
import ex03_layer_norm
import ex06_multi_head_attention
import ex07_feed_forward
from torch import Tensor, nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = ex06_multi_head_attention.MultiHeadAttention(d_model, num_heads, dropout)
        self.dropout = nn.Dropout(dropout)
        self.layer_norm_1 = ex03_layer_norm.LayerNormalization(d_model)
        self.feed_forward = ex07_feed_forward.FeedForwardNetwork(d_model, d_ff, dropout)
        self.dropout_2 = nn.Dropout(dropout)
        self.layer_norm_2 = ex03_layer_norm.LayerNormalization(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        attended = self.dropout(self.attention(x, x, x, mask))
        attended += x  # safe in place: only this call uses the tensor
        attended = self.layer_norm_1(attended)
        thought = self.dropout_2(self.feed_forward(attended))
        thought += attended
        return self.layer_norm_2(thought)


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
        self.embedding = ex01_embeddings.InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = ex02_positional_encoding.PositionalEncoding(d_model, seq_len, dropout)
        first = EncoderBlock(d_model, num_heads, d_ff, dropout)
        self.encoder_blocks = nn.ModuleList([first, *(copy.deepcopy(first) for _ in range(num_encoder_blocks - 1))])
        self.layer_norm = ex03_layer_norm.LayerNormalization(d_model)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.positional_encoding(self.embedding(ids))
        for block in self.encoder_blocks:
            x = block(x, mask)
        return self.layer_norm(x)
