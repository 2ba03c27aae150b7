from torch import nn, Tensor

from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock


class LanguageModel(nn.Module):

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int, num_layers: int,
                 seq_len: int, dropout: float = 0.1):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Tensor, mask=None) -> Tensor:
        B, T = ids.size()
        causal = create_look_ahead_mask(T, ids.device)
        if mask is not None:
            causal = causal & mask
        x = self.positional_encoding(self.embedding(ids))
        for block in self.layers:
            x = block(x, causal)
        logits = self.output_projection(x)  # (B, T, vocab_size)
        return logits
