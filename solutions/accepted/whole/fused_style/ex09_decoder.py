"""The decoder, with the same base class as the encoder."""

from ex03_layer_norm import LayerNormalization
from ex08_encoder import PostNormBlock, Stack
from torch import Tensor, nn


class DecoderBlock(PostNormBlock):
    names = ("self_attention", "cross_attention", "feed_forward")

    @property
    def self_attention(self) -> nn.Module:
        return self.sublayers[0]

    @property
    def cross_attention(self) -> nn.Module:
        return self.sublayers[1]

    @property
    def layer_norm_3(self) -> nn.Module:
        return self.norms[2]

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        x = self.residual(0, x, x, x, tgt_mask)
        x = self.residual(1, x, encoder_output, encoder_output, src_mask)
        return self.residual(2, x)


class Decoder(Stack):
    blocks_name = "decoder_blocks"

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
        super().__init__(
            vocab_size,
            d_model,
            seq_len,
            dropout,
            num_decoder_blocks,
            lambda: DecoderBlock(d_model, num_heads, d_ff, dropout),
        )
        self.layer_norm = LayerNormalization(d_model)

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        return self.layer_norm(self.run(ids, encoder_output, src_mask, tgt_mask))
