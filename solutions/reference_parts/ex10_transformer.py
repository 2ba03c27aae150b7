"""Reference part for ex10, which no exercise imports: `course play demo` runs it until the learner's own passes."""

import torch
from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import nn


class Transformer(nn.Module):
    def __init__(
        self,
        src_vocab_size,
        tgt_vocab_size,
        d_model=512,
        num_heads=8,
        d_ff=2048,
        num_encoder_blocks=6,
        num_decoder_blocks=6,
        dropout=0.1,
        seq_len=512,
        pad_idx=0,
    ):
        super().__init__()
        self.padding = pad_idx
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        reads = create_padding_mask(src, self.padding) if src_mask is None else src_mask
        sees = create_target_mask(tgt, self.padding) if tgt_mask is None else tgt_mask
        return self.output_projection(self.decoder(tgt, self.encoder(src, reads), reads, sees))

    def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
        return torch.softmax(self.forward(src, tgt, src_mask, tgt_mask), -1)
