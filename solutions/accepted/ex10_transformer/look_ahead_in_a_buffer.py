# The look-ahead mask and the padding id are buffers, saved with the model. The mask is cut to the target.
import torch
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import Tensor, nn
from torch.nn import functional


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
        sizes = (d_model, num_heads, d_ff, dropout)
        self.encoder = Encoder(src_vocab_size, *sizes, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, *sizes, num_decoder_blocks, seq_len)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.register_buffer("pad_idx", torch.tensor(pad_idx))
        self.register_buffer("look_ahead", torch.triu(torch.ones(seq_len, seq_len), diagonal=1) == 0)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        T = tgt.size(1)
        if src_mask is None:
            src_mask = ~(src == self.pad_idx).unsqueeze(1).unsqueeze(2)
        if tgt_mask is None:
            tgt_mask = self.look_ahead[:T, :T].clone().unsqueeze(0).unsqueeze(0)
            tgt_mask = tgt_mask & ~torch.eq(tgt, self.pad_idx).reshape(-1, 1, 1, T)
        memory = self.encoder(src, src_mask)
        states = self.decoder(tgt, memory, src_mask, tgt_mask)
        return functional.linear(states, self.output_projection.weight, self.output_projection.bias)

    def forward_with_softmax(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        was_training = self.training
        logits = self(src, tgt, src_mask, tgt_mask)
        self.train(was_training)
        return functional.softmax(logits, dim=2)
