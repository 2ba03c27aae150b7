# Methods for encoding and decoding, masks of four full axes, and a hand-written softmax.
import torch
from ex04_masks import create_look_ahead_mask, create_padding_mask
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
        common = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout, "seq_len": seq_len}
        self.encoder = Encoder(vocab_size=src_vocab_size, num_encoder_blocks=num_encoder_blocks, **common)
        self.decoder = Decoder(vocab_size=tgt_vocab_size, num_decoder_blocks=num_decoder_blocks, **common)
        self.output_projection = nn.Linear(in_features=d_model, out_features=tgt_vocab_size)
        self.pad_idx = pad_idx
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def source_mask(self, src: Tensor) -> Tensor:
        B, S = src.shape
        return create_padding_mask(src, self.pad_idx).expand(B, 1, S, S)[:, :, :1]

    def target_mask(self, tgt: Tensor) -> Tensor:
        B, T = tgt.shape
        allowed = create_look_ahead_mask(T, tgt.device).repeat(B, 1, 1, 1)
        return torch.logical_and(allowed, create_padding_mask(tgt, self.pad_idx))

    def encode(self, src: Tensor, src_mask: Tensor) -> Tensor:
        return self.encoder(src, mask=src_mask)

    def decode(self, tgt: Tensor, memory: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> Tensor:
        return self.decoder(tgt, encoder_output=memory, src_mask=src_mask, tgt_mask=tgt_mask)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None):
        src_mask = self.source_mask(src) if src_mask is None else src_mask
        tgt_mask = self.target_mask(tgt) if tgt_mask is None else tgt_mask
        return self.output_projection(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))

    def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
        logits = self.forward(src, tgt, src_mask=src_mask, tgt_mask=tgt_mask)
        return (logits - logits.logsumexp(dim=2, keepdim=True)).exp()
