# Separate classes for embeddings and stack, filled by one from_reference of the encoder.
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


def fill(module: nn.Module, state: dict[str, Tensor], prefix: str = "") -> None:
    own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
    if hasattr(module, "from_reference"):
        module.from_reference(own)
    elif any(hasattr(each, "from_reference") for each in module.modules()):
        for name, part in module.named_children():
            fill(part, own, f"{name}.")
    else:
        module.load_state_dict(own, strict=False)


class Front(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, seq_len: int, dropout: float) -> None:
        super().__init__()
        self.look_up = InputEmbeddings(d_model, vocab_size)
        self.positions = PositionalEncoding(d_model, seq_len, dropout)

    def forward(self, ids: Tensor) -> Tensor:
        return self.positions(self.look_up(ids))


class Stack(nn.Module):
    def __init__(self, blocks: list[nn.Module], d_model: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.norm = LayerNormalization(d_model)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        seen = self.layer_norm_1(x + self.dropout(self.attention(x, x, x, mask)))
        return self.layer_norm_2(seen + self.dropout(self.feed_forward(seen)))


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
        self.front = Front(vocab_size, d_model, seq_len, dropout)
        blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_encoder_blocks)]
        self.stack = Stack(blocks, d_model)

    embedding = property(lambda self: self.front.look_up)
    positional_encoding = property(lambda self: self.front.positions)
    encoder_blocks = property(lambda self: self.stack.blocks)
    layer_norm = property(lambda self: self.stack.norm)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        for part in ("embedding", "positional_encoding", "layer_norm"):
            fill(getattr(self, part), state, f"{part}.")
        for i, block in enumerate(self.encoder_blocks):
            fill(block, state, f"encoder_blocks.{i}.")

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.stack(self.front(ids), mask)
