import torch.nn as nn
from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder


class Transformer(nn.Module):
    "Encoder, decoder and a generator on top."

    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, d_ff=2048,
        num_encoder_blocks=6, num_decoder_blocks=6, dropout=0.1, seq_len=512, pad_idx=0,
    ):
        super(Transformer, self).__init__()
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.pad = pad_idx

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        if src_mask is None:
            src_mask = create_padding_mask(src, self.pad)
        if tgt_mask is None:
            tgt_mask = create_target_mask(tgt, self.pad)
        return self.output_projection(self.decode(self.encode(src, src_mask), src_mask, tgt, tgt_mask))

    def encode(self, src, src_mask):
        return self.encoder(src, src_mask)

    def decode(self, memory, src_mask, tgt, tgt_mask):
        return self.decoder(tgt, memory, src_mask, tgt_mask)

    def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
        return self(src, tgt, src_mask, tgt_mask).softmax(dim=-1)
