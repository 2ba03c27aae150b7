# One extra dropout per sublayer, in-place sums, and blocks copied from the first.
import copy

import ex01_embeddings
import ex02_positional_encoding
import ex03_layer_norm
import ex06_multi_head_attention
import ex07_feed_forward
from torch import Tensor, nn


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = ex06_multi_head_attention.MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = copy.deepcopy(self.self_attention)
        self.feed_forward = ex07_feed_forward.FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = ex03_layer_norm.LayerNormalization(d_model)
        self.layer_norm_2 = ex03_layer_norm.LayerNormalization(d_model)
        self.layer_norm_3 = ex03_layer_norm.LayerNormalization(d_model)
        self.dropout, self.dropout_2, self.dropout_3 = (nn.Dropout(dropout) for _ in range(3))

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        own = self.dropout(self.self_attention(x, x, x, tgt_mask))
        own += x  # safe in place: only this call uses the tensor
        own = self.layer_norm_1(own)
        read = self.dropout_2(self.cross_attention(own, encoder_output, encoder_output, src_mask))
        read += own
        read = self.layer_norm_2(read)
        thought = self.dropout_3(self.feed_forward(read))
        thought += read
        return self.layer_norm_3(thought)


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
        self.embedding = ex01_embeddings.InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = ex02_positional_encoding.PositionalEncoding(d_model, seq_len, dropout)
        first = DecoderBlock(d_model, num_heads, d_ff, dropout)
        self.decoder_blocks = nn.ModuleList([first, *(copy.deepcopy(first) for _ in range(num_decoder_blocks - 1))])
        self.layer_norm = ex03_layer_norm.LayerNormalization(d_model)

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        x = self.positional_encoding(self.embedding(ids))
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask, tgt_mask)
        return self.layer_norm(x)
