# Separate classes for embeddings, sublayers and stack, filled by one from_reference of the decoder.
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

    def forward(self, x: Tensor, *source_and_masks: Tensor | None) -> Tensor:
        for block in self.blocks:
            x = block(x, *source_and_masks)
        return self.norm(x)


class Sublayer(nn.Module):
    def __init__(self, part: nn.Module, d_model: int, dropout: nn.Module) -> None:
        super().__init__()
        self.part = part
        self.norm = LayerNormalization(d_model)
        self.dropout = dropout

    def forward(self, x: Tensor, *others: Tensor | None) -> Tensor:
        return self.norm(x + self.dropout(self.part(x, *others)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.own = Sublayer(MultiHeadAttention(d_model, num_heads, dropout), d_model, self.dropout)
        self.read = Sublayer(MultiHeadAttention(d_model, num_heads, dropout), d_model, self.dropout)
        self.think = Sublayer(FeedForwardNetwork(d_model, d_ff, dropout), d_model, self.dropout)

    self_attention = property(lambda self: self.own.part)
    cross_attention = property(lambda self: self.read.part)
    feed_forward = property(lambda self: self.think.part)
    layer_norm_1 = property(lambda self: self.own.norm)
    layer_norm_2 = property(lambda self: self.read.norm)
    layer_norm_3 = property(lambda self: self.think.norm)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        for part in {name.split(".")[0] for name in state}:
            fill(getattr(self, part), state, f"{part}.")

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        x = self.own(x, x, x, tgt_mask)
        return self.think(self.read(x, encoder_output, encoder_output, src_mask))


class Decoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        num_decoder_blocks: int,
        seq_len: int,
    ) -> None:
        super().__init__()
        self.front = Front(vocab_size, d_model, seq_len, dropout)
        blocks = [DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks)]
        self.stack = Stack(blocks, d_model)

    embedding = property(lambda self: self.front.look_up)
    positional_encoding = property(lambda self: self.front.positions)
    decoder_blocks = property(lambda self: self.stack.blocks)
    layer_norm = property(lambda self: self.stack.norm)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        for part in ("embedding", "positional_encoding", "layer_norm"):
            fill(getattr(self, part), state, f"{part}.")
        for i, block in enumerate(self.decoder_blocks):
            fill(block, state, f"decoder_blocks.{i}.")

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        return self.stack(self.front(ids), encoder_output, src_mask, tgt_mask)
