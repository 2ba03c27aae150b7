"""ex10: encoder + decoder + projection to the target vocabulary (Vaswani et al. 2017, figure 1)."""

import torch
from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import Tensor, nn


class Transformer(nn.Module):
    """src (B, S), tgt (B, T) -> logits of the next target token (B, T, V_tgt)."""

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
        D, H, F, L = d_model, num_heads, d_ff, seq_len
        self.pad_idx = pad_idx
        self.encoder = Encoder(src_vocab_size, D, H, F, dropout, num_encoder_blocks, L)
        self.decoder = Decoder(tgt_vocab_size, D, H, F, dropout, num_decoder_blocks, L)
        self.output_projection = nn.Linear(D, tgt_vocab_size)

    def _masks(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        if src_mask is None:
            src_mask = create_padding_mask(src, self.pad_idx)  # (B, 1, 1, S)
        if tgt_mask is None:
            tgt_mask = create_target_mask(tgt, self.pad_idx)  # (B, 1, T, T)
        return src_mask, tgt_mask

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        src_mask, tgt_mask = self._masks(src, tgt, src_mask, tgt_mask)
        m = self.encoder(src, src_mask)  # (B, S) -> (B, S, D)
        x = self.decoder(tgt, m, src_mask, tgt_mask)  # (B, T), (B, S, D) -> (B, T, D)
        return self.output_projection(x)  # (B, T, D) -> (B, T, V_tgt)

    def forward_with_softmax(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        logits = self(src, tgt, src_mask, tgt_mask)  # (B, T, V_tgt)
        return torch.softmax(logits, dim=-1)  # rows over V_tgt sum to 1
