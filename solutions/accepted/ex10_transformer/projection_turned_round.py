# The projection is a custom module with weights of shape (D, V), filled by from_reference.
import torch
from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import Tensor, nn


class WordScores(nn.Module):
    def __init__(self, d_model: int, words: int) -> None:
        super().__init__()
        self.columns = nn.Parameter(torch.randn(d_model, words) * d_model**-0.5)
        self.commonness = nn.Parameter(torch.zeros(words))

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.columns.copy_(state["weight"].T)
            self.commonness.copy_(state["bias"])

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("btd,dv->btv", x, self.columns) + self.commonness


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
        self.encoder = Encoder(src_vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len)
        self.output_projection = WordScores(d_model, tgt_vocab_size)
        self.softmax = nn.Softmax(dim=-1)
        self.masks_of = (lambda ids: create_padding_mask(ids, pad_idx), lambda ids: create_target_mask(ids, pad_idx))

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None):
        given = zip(self.masks_of, (src, tgt), (src_mask, tgt_mask), strict=True)
        src_mask, tgt_mask = (make(ids) if mask is None else mask for make, ids, mask in given)
        return self.output_projection(self.decoder(tgt, self.encoder(src, src_mask), src_mask, tgt_mask))

    def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.softmax(self(src, tgt, src_mask, tgt_mask))
