"""The encoder on two base classes that the decoder and the language model share."""

from collections.abc import Callable
from typing import ClassVar

import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


def fill(part: nn.Module, state: dict[str, Tensor]) -> None:
    """Fill a module by the contract's names: with its own hook, or tensor by tensor and child by child."""
    if hasattr(part, "from_reference"):
        part.from_reference(state)
        return
    with torch.no_grad():
        for name, tensor in (*part.named_parameters(recurse=False), *part.named_buffers(recurse=False)):
            if name in state:
                tensor.copy_(state[name])
    for name, child in part.named_children():
        fill(child, under(name, state))


def under(prefix: str, state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(f"{prefix}."): each for name, each in state.items() if name.startswith(f"{prefix}.")}


class PostNormBlock(nn.Module):
    """Sublayers in a list, each with a norm: LayerNorm(x + Dropout(Sublayer(x)))."""

    names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.sublayers = nn.ModuleList(self.make(name, d_model, num_heads, d_ff, dropout) for name in self.names)
        self.norms = nn.ModuleList(LayerNormalization(d_model) for _ in self.names)
        self.dropout = nn.Dropout(dropout)

    @staticmethod
    def make(name: str, d_model: int, num_heads: int, d_ff: int, dropout: float) -> nn.Module:
        if name == "feed_forward":
            return FeedForwardNetwork(d_model, d_ff, dropout)
        return MultiHeadAttention(d_model, num_heads, dropout)

    def residual(self, i: int, x: Tensor, *others: Tensor | None) -> Tensor:
        return self.norms[i](x + self.dropout(self.sublayers[i](x, *others)))

    def from_reference(self, state: dict[str, Tensor]) -> None:
        for i, name in enumerate(self.names):
            fill(self.sublayers[i], under(name, state))
            fill(self.norms[i], under(f"layer_norm_{i + 1}", state))

    @property
    def feed_forward(self) -> nn.Module:
        return self.sublayers[-1]

    @property
    def layer_norm_1(self) -> nn.Module:
        return self.norms[0]

    @property
    def layer_norm_2(self) -> nn.Module:
        return self.norms[1]


class EncoderBlock(PostNormBlock):
    names = ("attention", "feed_forward")

    @property
    def attention(self) -> nn.Module:
        return self.sublayers[0]

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.residual(1, self.residual(0, x, x, x, mask))


class Stack(nn.Module):
    """Embeddings with positions, then blocks under a name set by the subclass."""

    blocks_name: ClassVar[str] = "blocks"

    def __init__(
        self, vocab_size: int, d_model: int, seq_len: int, dropout: float, blocks: int, make: Callable[[], nn.Module]
    ) -> None:
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.add_module(self.blocks_name, nn.ModuleList(make() for _ in range(blocks)))

    def run(self, ids: Tensor, *others: Tensor | None) -> Tensor:
        x = self.positional_encoding(self.embedding(ids))
        for block in getattr(self, self.blocks_name):
            x = block(x, *others)
        return x


class Encoder(Stack):
    blocks_name = "encoder_blocks"

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
        super().__init__(
            vocab_size,
            d_model,
            seq_len,
            dropout,
            num_encoder_blocks,
            lambda: EncoderBlock(d_model, num_heads, d_ff, dropout),
        )
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.layer_norm(self.run(ids, mask))
