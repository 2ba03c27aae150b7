# The decoder makes masks of four axes once, also if none is given, and adds the table rows itself.
import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


def ready(mask: Tensor | None, queries: Tensor, keys: Tensor) -> Tensor:
    """Return the mask as (B or 1, H or 1, T, S)."""
    T, S = queries.size(1), keys.size(1)
    if mask is None:
        return torch.ones(1, 1, T, S, dtype=torch.bool, device=keys.device)
    if mask.dim() < 4:
        mask = mask.reshape(-1, 1, *mask.shape[-2:])
    return mask.expand(-1, -1, T, S)


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.sizes = (d_model, num_heads, d_ff)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.layer_norm_3 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        residual = x
        x = self.self_attention(x, x, x, ready(tgt_mask, x, x))
        x = self.layer_norm_1(residual + self.dropout(x))
        residual = x
        x = self.cross_attention(x, encoder_output, encoder_output, ready(src_mask, x, encoder_output))
        x = self.layer_norm_2(residual + self.dropout(x))
        residual = x
        x = self.feed_forward(x)
        return self.layer_norm_3(residual + self.dropout(x))


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
        self.decoder_blocks = nn.ModuleList(
            [DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks)]
        )
        self.layer_norm = LayerNormalization(d_model)
        self.register_buffer("blocks", torch.tensor(num_decoder_blocks))

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        T, longest = ids.size(1), self.positional_encoding.pe.size(1)
        if longest < T:
            raise ValueError(f"{T} positions, but the table has {longest}")
        embedded = self.embedding(ids)
        x = self.positional_encoding.dropout(embedded + self.positional_encoding.pe[:, :T].to(embedded.dtype))
        masks = ready(src_mask, ids, encoder_output), ready(tgt_mask, ids, ids)
        for block in self.decoder_blocks.children():
            x = block(x, encoder_output, *masks)
        return self.layer_norm(x)
