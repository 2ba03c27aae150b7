# The encoder, and two helpers that the decoder and the language model also use.

import ex01_embeddings
import ex02_positional_encoding
import ex03_layer_norm
import ex06_multi_head_attention
import ex07_feed_forward
from torch import Tensor, nn


def add_and_norm(x: Tensor, change: Tensor, dropout: nn.Module, norm: nn.Module) -> Tensor:
    """LayerNorm(x + Dropout(change))."""
    return norm(x + dropout(change))


def embed(model: nn.Module, ids: Tensor) -> Tensor:
    """Return vectors with positions for the ids, from the two tables of a model."""
    vectors = model.embedding(ids)
    return model.positional_encoding(vectors)


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = ex06_multi_head_attention.MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = ex07_feed_forward.FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = ex03_layer_norm.LayerNormalization(d_model)
        self.layer_norm_2 = ex03_layer_norm.LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        attended = self.attention(query=x, key=x, value=x, mask=mask)
        x = add_and_norm(x, attended, self.dropout, self.layer_norm_1)
        thought = self.feed_forward(x)
        return add_and_norm(x, thought, self.dropout, self.layer_norm_2)


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
        self.embedding = ex01_embeddings.InputEmbeddings(d_model=d_model, vocab_size=vocab_size)
        self.positional_encoding = ex02_positional_encoding.PositionalEncoding(
            d_model=d_model, seq_len=seq_len, dropout=dropout
        )
        self.encoder_blocks = nn.ModuleList()
        for _ in range(num_encoder_blocks):
            self.encoder_blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.layer_norm = ex03_layer_norm.LayerNormalization(d_model)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        x = embed(self, ids)
        for block in self.encoder_blocks:
            x = block(x, mask)
        return self.layer_norm(x)
