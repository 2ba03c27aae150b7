# The decoder, on the helpers of the encoder.

import ex01_embeddings
import ex02_positional_encoding
import ex03_layer_norm
import ex06_multi_head_attention
import ex07_feed_forward
from ex08_encoder import add_and_norm, embed
from torch import Tensor, nn


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = ex06_multi_head_attention.MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = ex06_multi_head_attention.MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = ex07_feed_forward.FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = ex03_layer_norm.LayerNormalization(d_model)
        self.layer_norm_2 = ex03_layer_norm.LayerNormalization(d_model)
        self.layer_norm_3 = ex03_layer_norm.LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        # Self-attention over the tokens so far.
        written = self.self_attention(query=x, key=x, value=x, mask=tgt_mask)
        x = add_and_norm(x, written, self.dropout, self.layer_norm_1)
        # Cross-attention over the source.
        read = self.cross_attention(query=x, key=encoder_output, value=encoder_output, mask=src_mask)
        x = add_and_norm(x, read, self.dropout, self.layer_norm_2)
        # Feed-forward.
        thought = self.feed_forward(x)
        return add_and_norm(x, thought, self.dropout, self.layer_norm_3)


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
        self.embedding = ex01_embeddings.InputEmbeddings(d_model=d_model, vocab_size=vocab_size)
        self.positional_encoding = ex02_positional_encoding.PositionalEncoding(
            d_model=d_model, seq_len=seq_len, dropout=dropout
        )
        self.decoder_blocks = nn.ModuleList()
        for _ in range(num_decoder_blocks):
            self.decoder_blocks.append(DecoderBlock(d_model, num_heads, d_ff, dropout))
        self.layer_norm = ex03_layer_norm.LayerNormalization(d_model)

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        x = embed(self, ids)
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask=src_mask, tgt_mask=tgt_mask)
        return self.layer_norm(x)
