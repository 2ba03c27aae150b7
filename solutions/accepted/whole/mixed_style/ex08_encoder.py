"""ex08: the encoder block and the encoder."""

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each as LayerNorm(x + Dropout(Sublayer(x)))."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        # The two sublayers.
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)

        # One norm for each sublayer.
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)

        self.dropout = nn.Dropout(dropout)

    def attention_step(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """The first sublayer: the tokens look at each other."""
        attended = self.attention(x, x, x, mask)
        dropped = self.dropout(attended)
        total = x + dropped
        return self.layer_norm_1(total)

    def feed_forward_step(self, x: Tensor) -> Tensor:
        """The second sublayer: each token on its own."""
        processed = self.feed_forward(x)
        dropped = self.dropout(processed)
        total = x + dropped
        return self.layer_norm_2(total)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, S, D) for x (B, S, D)."""
        after_attention = self.attention_step(x, mask)
        after_feed_forward = self.feed_forward_step(after_attention)
        return after_feed_forward


class Encoder(nn.Module):
    """Embeddings with positions, a stack of encoder blocks, and a final layer norm."""

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
        # From ids to vectors.
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)

        # The stack: every block is a new one with its own parameters.
        self.encoder_blocks = nn.ModuleList()
        for _ in range(num_encoder_blocks):
            block = EncoderBlock(d_model, num_heads, d_ff, dropout)
            self.encoder_blocks.append(block)

        # The norm after the last block.
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, S, D) for Long ids (B, S)."""
        # Step 1: token vectors with their positions.
        vectors = self.embedding(ids)
        vectors = self.positional_encoding(vectors)

        # Step 2: each block takes the output of the block before it.
        for block in self.encoder_blocks:
            vectors = block(vectors, mask)

        # Step 3: the final norm.
        vectors = self.layer_norm(vectors)
        return vectors
