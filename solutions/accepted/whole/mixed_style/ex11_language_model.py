"""ex11: the decoder-only language model."""

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock
from torch import Tensor, nn


class LanguageModel(nn.Module):
    """Map ids to the logits of the next token, at every position."""

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
        # From ids to vectors.
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)

        # The stack of blocks. Only the mask makes them a decoder.
        blocks = []
        for _ in range(num_layers):
            new_block = EncoderBlock(d_model, num_heads, d_ff, dropout)
            blocks.append(new_block)
        self.layers = nn.ModuleList(blocks)

        # From vectors to one score for each word.
        self.output_projection = nn.Linear(d_model, vocab_size)

    def visible_positions(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Return the mask that the blocks use: the causal mask, and the given one if there is one."""
        length = ids.size(1)
        causal = create_look_ahead_mask(length, device=ids.device)
        if mask is None:
            return causal

        # A mask (B, T, T) gets an axis for the heads.
        given = mask
        if given.dim() == 3:
            given = given.unsqueeze(1)
        both = causal & given
        return both

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) for ids (B, T)."""
        # Step 1: who may look at whom?
        visible = self.visible_positions(ids, mask)

        # Step 2: token vectors with their positions.
        embedded = self.embedding(ids)
        embedded = self.positional_encoding(embedded)

        # Step 3: each block takes the output of the block before it.
        hidden = embedded
        for layer in self.layers:
            hidden = layer(hidden, visible)

        # Step 4: the scores. There is no norm and no softmax here.
        logits = self.output_projection(hidden)
        return logits
