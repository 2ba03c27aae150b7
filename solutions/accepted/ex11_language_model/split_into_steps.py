# One helper for the mask and one for the hidden states. The blocks get a mask for the whole batch.
import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
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
        blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]
        parts = {
            "embedding": InputEmbeddings(d_model, vocab_size),
            "positional_encoding": PositionalEncoding(d_model, seq_len, dropout),
            "layers": nn.ModuleList(blocks),
            "output_projection": nn.Linear(d_model, vocab_size),
        }
        for name, part in parts.items():
            self.add_module(name, part)
        self.apply(self.start)

    @staticmethod
    def start(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)

    @staticmethod
    def visible(ids: Tensor, mask: Tensor | None) -> Tensor:
        B, T = ids.shape
        causal = create_look_ahead_mask(T, ids.device).expand(B, 1, T, T)
        if mask is None:
            return causal
        while mask.dim() < 4:
            mask = mask.unsqueeze(-3)
        return torch.stack(torch.broadcast_tensors(causal, mask)).all(dim=0)

    def hidden(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        x = self.positional_encoding(self.embedding(ids))
        visible = self.visible(ids, mask)
        for layer in self.layers:
            x = layer(x, visible)
        return x

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.output_projection(self.hidden(ids, mask))
