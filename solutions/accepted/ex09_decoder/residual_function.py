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


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        for i in (3, 2, 1):
            self.add_module(f"layer_norm_{i}", LayerNormalization(d_model))
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)

    def around(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        # F.dropout with training=self.training works like the module.
        added = functional.dropout(sublayer(x), p=self.dropout.p, training=self.training)
        return norm(added + x)

    def forward(self, x, encoder_output, src_mask=None, tgt_mask=None):
        def ask_source(y: Tensor) -> Tensor:
            return self.cross_attention(query=y, key=encoder_output, value=encoder_output, mask=src_mask)

        x = self.around(x, lambda y: self.self_attention(y, y, y, mask=tgt_mask), self.layer_norm_1)
        x = self.around(x, ask_source, self.layer_norm_2)
        return self.around(x, self.feed_forward, self.layer_norm_3)


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
        self.layer_norm = LayerNormalization(d_model)
        self.decoder_blocks = nn.ModuleList()
        while len(self.decoder_blocks) < num_decoder_blocks:
            self.decoder_blocks.append(DecoderBlock(d_model, num_heads, d_ff, dropout))
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.embedding = InputEmbeddings(d_model, vocab_size)

    def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
        start = self.positional_encoding(self.embedding(ids))
        stack = reduce(lambda x, block: block(x, encoder_output, src_mask, tgt_mask), self.decoder_blocks, start)
        return self.layer_norm(stack)
