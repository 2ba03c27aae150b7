# The decoder-only model. Its causal mask is a buffer of the size of the position table.

import ex01_embeddings
import ex02_positional_encoding
import ex04_masks
import ex08_encoder
import torch
from torch import Tensor, nn


class LanguageModel(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        seq_len: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.embedding = ex01_embeddings.InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = ex02_positional_encoding.PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(ex08_encoder.EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.output_projection = nn.Linear(d_model, vocab_size)
        self.register_buffer("causal_mask", ex04_masks.create_look_ahead_mask(seq_len))

    def combined_mask(self, length: int, mask: Tensor | None) -> Tensor:
        """Return the causal mask for a text of this length, combined with the given mask."""
        combined = ex04_masks.with_head_axis(self.causal_mask[:length, :length])
        if mask is not None:
            combined = torch.logical_and(combined, ex04_masks.with_head_axis(mask))
        return combined

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        # The positional encoding raises an error for a text that is too long.
        x = ex08_encoder.embed(self, ids)
        combined = self.combined_mask(ids.shape[1], mask)
        for layer in self.layers:
            x = layer(x, combined)
        return self.output_projection(x)
