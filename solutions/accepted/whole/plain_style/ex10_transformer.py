# The Transformer. A helper makes its masks, also for training and translation.

import ex04_masks
import ex08_encoder
import ex09_decoder
import torch
from torch import Tensor, nn


def missing_masks(
    src: Tensor, tgt: Tensor, pad_idx: int, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return both masks: given masks unchanged, missing masks made from the ids."""
    if src_mask is None:
        src_mask = ex04_masks.create_padding_mask(src, pad_idx)
    if tgt_mask is None:
        tgt_mask = ex04_masks.create_target_mask(tgt, pad_idx)
    return src_mask, tgt_mask


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
        self.pad_idx = pad_idx
        self.encoder = ex08_encoder.Encoder(
            vocab_size=src_vocab_size,
            d_model=d_model,
            num_heads=num_heads,
            d_ff=d_ff,
            dropout=dropout,
            num_encoder_blocks=num_encoder_blocks,
            seq_len=seq_len,
        )
        self.decoder = ex09_decoder.Decoder(
            vocab_size=tgt_vocab_size,
            d_model=d_model,
            num_heads=num_heads,
            d_ff=d_ff,
            dropout=dropout,
            num_decoder_blocks=num_decoder_blocks,
            seq_len=seq_len,
        )
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        src_mask, tgt_mask = missing_masks(src, tgt, self.pad_idx, src_mask, tgt_mask)
        encoder_output = self.encoder(ids=src, mask=src_mask)
        decoder_output = self.decoder(ids=tgt, encoder_output=encoder_output, src_mask=src_mask, tgt_mask=tgt_mask)
        return self.output_projection(decoder_output)

    def forward_with_softmax(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        logits = self.forward(src, tgt, src_mask, tgt_mask)
        return torch.softmax(logits, dim=-1)
