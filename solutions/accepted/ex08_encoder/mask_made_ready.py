# The encoder gives every mask four axes once, and adds the table rows itself.
import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


def four_axes(mask: Tensor | None) -> Tensor | None:
    if mask is None or mask.dim() == 4:
        return mask
    return mask[None, None] if mask.dim() == 2 else mask[:, None]


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.sizes = (d_model, num_heads, d_ff)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is None:
            mask = torch.ones(1, 1, x.size(1), x.size(1), dtype=torch.bool, device=x.device)
        residual = x
        x = self.attention(x, x, x, four_axes(mask))
        x = self.layer_norm_1(residual + self.dropout(x))
        residual = x
        x = self.feed_forward(x)
        return self.layer_norm_2(residual + self.dropout(x))


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
        self.encoder_blocks = nn.ModuleList(
            [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_encoder_blocks)]
        )
        self.layer_norm = LayerNormalization(d_model)
        self.register_buffer("blocks", torch.tensor(num_encoder_blocks))
        self.latest: Tensor | None = None

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        S, longest = ids.size(1), self.positional_encoding.pe.size(1)
        if longest < S:
            raise ValueError(f"{S} positions, but the table has {longest}")
        embedded = self.embedding(ids)
        x = embedded + self.positional_encoding.pe[:, :S].to(embedded.dtype)
        x, ready = self.positional_encoding.dropout(x), four_axes(mask)
        for block in self.encoder_blocks.children():
            x = block(x, ready)
        self.latest = x.detach()
        return self.layer_norm(x)
