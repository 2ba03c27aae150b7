# The causal mask is a buffer of seq_len rows, cut to the text. The masks are combined with four axes.
import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex08_encoder import EncoderBlock
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
        self.register_buffer("causal", torch.ones(1, 1, seq_len, seq_len).tril().bool(), persistent=False)
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(EncoderBlock(d_model, num_heads, d_ff, dropout))
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        T = ids.shape[1]
        causal = self.causal[:, :, :T, :T]
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None]
            causal = causal.logical_and(mask)
        x = self.positional_encoding(self.embedding(ids))
        for i in range(len(self.layers)):
            x = self.layers[i](x, mask=causal)
        return self.output_projection(x)
