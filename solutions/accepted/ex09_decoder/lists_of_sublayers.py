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


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attentions = nn.ModuleList(MultiHeadAttention(d_model, num_heads, dropout) for _ in range(2))
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.norms = nn.ModuleList(LayerNormalization(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    self_attention = property(lambda self: self.attentions[0])
    cross_attention = property(lambda self: self.attentions[1])
    layer_norm_1 = property(lambda self: self.norms[0])
    layer_norm_2 = property(lambda self: self.norms[1])
    layer_norm_3 = property(lambda self: self.norms[2])

    def from_reference(self, state: dict[str, Tensor]) -> None:
        norms = [f"layer_norm_{i}" for i in (1, 2, 3)]
        for part in ("self_attention", "cross_attention", "feed_forward", *norms):
            fill(getattr(self, part), under(state, part))

    def forward(self, x, encoder_output, src_mask=None, tgt_mask=None):
        looked_at = ((None, tgt_mask), (encoder_output, src_mask))
        for attention, norm, (source, mask) in zip(self.attentions, self.norms, looked_at, strict=False):
            source = x if source is None else source
            x = norm(x + self.dropout(attention(x, source, source, mask)))
        return self.norms[-1](x + self.dropout(self.feed_forward(x)))


class Decoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len):
        super().__init__()
        self.embedding = InputEmbeddings(vocab_size=vocab_size, d_model=d_model)
        self.positional_encoding = PositionalEncoding(d_model=d_model, seq_len=seq_len, dropout=dropout)
        blocks = [DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks)]
        self.decoder_blocks = nn.ModuleList(blocks)
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
        x = self.embedding(ids)
        x = self.positional_encoding(x)
        for i in range(len(self.decoder_blocks)):
            x = self.decoder_blocks[i](x, encoder_output, tgt_mask=tgt_mask, src_mask=src_mask)
        return self.layer_norm(x)
