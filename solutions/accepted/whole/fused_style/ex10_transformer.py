"""The Transformer, in two halves that generation can call separately."""

from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import Tensor, nn


class Transformer(nn.Module):
    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int = 512,
        num_heads: int = 8,
        d_ff: int = 2048,
        num_encoder_blocks: int = 6,
        num_decoder_blocks: int = 6,
        dropout: float = 0.1,
        seq_len: int = 512,
        pad_idx: int = 0,
    ) -> None:
        super().__init__()
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout, "seq_len": seq_len}
        self.encoder = Encoder(src_vocab_size, num_encoder_blocks=num_encoder_blocks, **sizes)
        self.decoder = Decoder(tgt_vocab_size, num_decoder_blocks=num_decoder_blocks, **sizes)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.pad_idx = pad_idx

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        if src_mask is None:
            src_mask = create_padding_mask(src, self.pad_idx)
        if tgt_mask is None:
            tgt_mask = create_target_mask(tgt, self.pad_idx)
        return self.output_projection(self.decoder(tgt, self.encoder(src, src_mask), src_mask, tgt_mask))

    def forward_with_softmax(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        return self(src, tgt, src_mask, tgt_mask).log_softmax(dim=-1).exp()
