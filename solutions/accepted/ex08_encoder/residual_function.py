# A function around each sublayer, blocks appended one by one, and `reduce` over them.
from collections.abc import Callable
from functools import reduce

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn
from torch.nn import functional


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.layer_norm_2, self.layer_norm_1 = LayerNormalization(d_model), LayerNormalization(d_model)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout=dropout)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)

    def around(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        # F.dropout with training=self.training works like the module.
        added = functional.dropout(sublayer(x), p=self.dropout.p, training=self.training)
        return norm(added + x)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.around(x, lambda y: self.attention(query=y, key=y, value=y, mask=mask), self.layer_norm_1)
        return self.around(x, self.feed_forward, self.layer_norm_2)


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
        self.layer_norm = LayerNormalization(d_model)
        self.encoder_blocks = nn.ModuleList()
        while len(self.encoder_blocks) < num_encoder_blocks:
            self.encoder_blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.embedding = InputEmbeddings(d_model, vocab_size)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        start = self.positional_encoding(self.embedding(ids))
        return self.layer_norm(reduce(lambda x, block: block(x, mask), self.encoder_blocks, start))
