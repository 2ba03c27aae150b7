from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import nn


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, d_ff=2048, num_encoder_blocks=6,
                 num_decoder_blocks=6, dropout=0.1, seq_len=512, pad_idx=0):
        super().__init__()
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.pad_idx = pad_idx

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        if src_mask is None: src_mask = create_padding_mask(src, self.pad_idx)
        if tgt_mask is None: tgt_mask = create_target_mask(tgt, self.pad_idx)
        return self.output_projection(self.decoder(tgt, self.encoder(src, src_mask), src_mask, tgt_mask))

    def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
        return self(src, tgt, src_mask, tgt_mask).softmax(-1)
