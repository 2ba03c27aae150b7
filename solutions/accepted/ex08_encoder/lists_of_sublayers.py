# Sublayers and norms in lists, filled by from_reference. The contract's attributes are properties.
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


def under(state: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{part}."): value for name, value in state.items() if name.startswith(f"{part}.")}


def fill(module: nn.Module, state: dict[str, Tensor]) -> None:
    if hasattr(module, "from_reference"):
        module.from_reference(state)
    else:
        module.load_state_dict(state, strict=False)


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.sublayers = nn.ModuleList(
            [MultiHeadAttention(d_model, num_heads, dropout), FeedForwardNetwork(d_model, d_ff, dropout)]
        )
        self.norms = nn.ModuleList(LayerNormalization(d_model) for _ in self.sublayers)
        self.dropout = nn.Dropout(dropout)

    attention = property(lambda self: self.sublayers[0])
    feed_forward = property(lambda self: self.sublayers[1])
    layer_norm_1 = property(lambda self: self.norms[0])
    layer_norm_2 = property(lambda self: self.norms[1])

    def from_reference(self, state: dict[str, Tensor]) -> None:
        for part in ("attention", "feed_forward", "layer_norm_1", "layer_norm_2"):
            fill(getattr(self, part), under(state, part))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for sublayer, norm in zip(self.sublayers, self.norms, strict=True):
            added = sublayer(x, x, x, mask) if sublayer is self.attention else sublayer(x)
            x = norm(x + self.dropout(added))
        return x


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len):
        super().__init__()
        self.embedding = InputEmbeddings(vocab_size=vocab_size, d_model=d_model)
        self.positional_encoding = PositionalEncoding(d_model=d_model, seq_len=seq_len, dropout=dropout)
        blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_encoder_blocks)]
        self.encoder_blocks = nn.ModuleList(blocks)
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids, mask=None):
        x = self.embedding(ids)
        x = self.positional_encoding(x)
        for i in range(len(self.encoder_blocks)):
            x = self.encoder_blocks[i](x, mask=mask)
        return self.layer_norm(x)
