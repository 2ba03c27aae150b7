# Library norms, filled by from_reference, computed in float32 or better.
from collections import OrderedDict

import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn
from torch.nn import functional


class Norm(nn.LayerNorm):
    def __init__(self, d_model: int) -> None:
        super().__init__(d_model, eps=1e-6)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        self.load_state_dict({"weight": state["alpha"], "bias": state["bias"]})

    def forward(self, x: Tensor) -> Tensor:
        wide = torch.promote_types(x.dtype, torch.float32)
        normal = functional.layer_norm(
            x.to(wide), self.normalized_shape, self.weight.to(wide), self.bias.to(wide), self.eps
        )
        return normal.to(x.dtype)


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        parts = OrderedDict(
            attention=MultiHeadAttention(d_model, num_heads, dropout),
            feed_forward=FeedForwardNetwork(d_model, d_ff, dropout),
            layer_norm_1=Norm(d_model),
            layer_norm_2=Norm(d_model),
            dropout=nn.Dropout(dropout),
        )
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        attended = self.layer_norm_1(torch.add(x, self.dropout(self.attention(x, x, x, mask))))
        return self.layer_norm_2(torch.add(attended, self.dropout(self.feed_forward(attended))))


class Encoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        num_encoder_blocks: int,
        seq_len: int,
    ) -> None:
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        sizes = (d_model, num_heads, d_ff, dropout)
        self.encoder_blocks = nn.ModuleList(EncoderBlock(*sizes) for _ in range(num_encoder_blocks))
        self.layer_norm = Norm(d_model)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        vectors = [self.positional_encoding(self.embedding(ids))]
        for block in self.encoder_blocks:
            vectors.append(block(vectors[-1], mask))
        return self.layer_norm(vectors[-1])
