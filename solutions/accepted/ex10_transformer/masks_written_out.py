# Without ex04: masks of three axes, made by comparing ids and positions.
import torch
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
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        if src_mask is None:
            src_mask = src.ne(self.padding)[:, None, :]
        if tgt_mask is None:
            positions = torch.arange(tgt.shape[1], device=tgt.device)
            not_later = positions[None, :] <= positions[:, None]
            tgt_mask = tgt.ne(self.padding)[:, None, :] * not_later
        memory = self.encoder(src, src_mask)
        return self.output_projection(self.decoder(tgt, memory, src_mask=src_mask, tgt_mask=tgt_mask))

    def forward_with_softmax(self, *args, **kwargs):
        return self.forward(*args, **kwargs).softmax(-1)
