import torch.nn.functional as F
from torch import nn, Tensor

from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder


class Transformer(nn.Module):

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int, d_model: int = 512, num_heads: int = 8,
                 d_ff: int = 2048, num_encoder_blocks: int = 6, num_decoder_blocks: int = 6,
                 dropout: float = 0.1, seq_len: int = 512, pad_idx: int = 0):
        super().__init__()
        self.pad_idx = pad_idx
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)

    def forward(self, src: Tensor, tgt: Tensor, src_mask=None, tgt_mask=None) -> Tensor:
        if src_mask is None:
            src_mask = create_padding_mask(src, self.pad_idx)
        if tgt_mask is None:
            tgt_mask = create_target_mask(tgt, self.pad_idx)
        mem = self.encoder(src, src_mask)
        outs = self.decoder(tgt, mem, src_mask, tgt_mask)
        return self.output_projection(outs)

    def forward_with_softmax(self, src: Tensor, tgt: Tensor, src_mask=None, tgt_mask=None) -> Tensor:
        logits = self.forward(src, tgt, src_mask, tgt_mask)
        return F.softmax(logits, dim=-1)
