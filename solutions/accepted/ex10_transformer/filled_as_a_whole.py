# The whole model has a from_reference, and the projection is two parameters of the model.
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
        self.config = {"pad_idx": pad_idx}
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)
        self.words = nn.Parameter(torch.empty(tgt_vocab_size, d_model + 1))
        nn.init.normal_(self.words, std=d_model**-0.5)

    def from_reference(self, state):
        with torch.no_grad():
            for stack in ("encoder", "decoder"):
                for name, parameter in getattr(self, stack).named_parameters():
                    parameter.copy_(state[f"{stack}.{name}"])
            bias = state["output_projection.bias"].unsqueeze(1)
            self.words.copy_(torch.cat([state["output_projection.weight"], bias], dim=1))

    def output_projection(self, states):
        ones = states.new_ones(*states.shape[:-1], 1)
        return torch.cat([states, ones], dim=-1) @ self.words.T

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        pad_idx = self.config["pad_idx"]
        if src_mask is None:
            src_mask = create_padding_mask(src, pad_idx=pad_idx)
        if tgt_mask is None:
            tgt_mask = create_target_mask(tgt, pad_idx=pad_idx)
        return self.output_projection(self.decoder(tgt, self.encoder(src, src_mask), src_mask, tgt_mask))

    def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
        powers = (logits := self(src, tgt, src_mask, tgt_mask)).sub(logits.amax(-1, keepdim=True)).exp()
        return powers / powers.sum(-1, keepdim=True)
