"""ex09: the decoder block and the decoder."""

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each with residual and norm."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        # The three sublayers.
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)

        # One norm for each of them.
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.layer_norm_3 = LayerNormalization(d_model)

        self.dropout = nn.Dropout(dropout)

    def add_and_norm(self, before: Tensor, sublayer_output: Tensor, norm: nn.Module) -> Tensor:
        """Add what a sublayer found to its input, and normalize the sum."""
        dropped = self.dropout(sublayer_output)
        total = before + dropped
        return norm(total)

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return (B, T, D) for x (B, T, D) and encoder_output (B, S, D)."""
        # Sublayer 1: the target looks at itself, but not into the future.
        from_target = self.self_attention(x, x, x, tgt_mask)
        after_self = self.add_and_norm(x, from_target, self.layer_norm_1)

        # Sublayer 2: the target asks, the source answers.
        source = encoder_output
        from_source = self.cross_attention(after_self, source, source, src_mask)
        after_cross = self.add_and_norm(after_self, from_source, self.layer_norm_2)

        # Sublayer 3: each token on its own.
        processed = self.feed_forward(after_cross)
        after_feed_forward = self.add_and_norm(after_cross, processed, self.layer_norm_3)
        return after_feed_forward


class Decoder(nn.Module):
    """Embeddings with positions, a stack of decoder blocks over one encoder output, and a final layer norm."""

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
        # From ids to vectors.
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)

        # The stack: every block is a new one with its own parameters.
        self.decoder_blocks = nn.ModuleList()
        for _ in range(num_decoder_blocks):
            block = DecoderBlock(d_model, num_heads, d_ff, dropout)
            self.decoder_blocks.append(block)

        # The norm after the last block.
        self.layer_norm = LayerNormalization(d_model)

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return (B, T, D) for Long ids (B, T) and encoder_output (B, S, D)."""
        # Step 1: token vectors with their positions.
        vectors = self.embedding(ids)
        vectors = self.positional_encoding(vectors)

        # Step 2: every block reads the same encoder output.
        for block in self.decoder_blocks:
            vectors = block(vectors, encoder_output, src_mask, tgt_mask)

        # Step 3: the final norm.
        vectors = self.layer_norm(vectors)
        return vectors
