# New blocks with one matrix for queries, keys and values, and a mask that is added to the scores.
import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex04_masks import create_look_ahead_mask
from torch import Tensor, nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.mix = nn.Linear(d_model, d_model)
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)
        self.norms = nn.ModuleList([LayerNormalization(d_model), LayerNormalization(d_model)])
        self.dropout = nn.Dropout(dropout)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state[f"attention.w_{each}.weight"] for each in "qkv"]))
            parts = {
                self.mix: "attention.w_o",
                self.widen: "feed_forward.linear_1",
                self.narrow: "feed_forward.linear_2",
            }
            for part, name in parts.items():
                part.weight.copy_(state[f"{name}.weight"])
                part.bias.copy_(state[f"{name}.bias"])
            for i, norm in enumerate(self.norms, 1):
                norm.alpha.copy_(state[f"layer_norm_{i}.alpha"])
                norm.bias.copy_(state[f"layer_norm_{i}.bias"])

    def forward(self, x: Tensor, penalty: Tensor) -> Tensor:
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) * q.size(-1) ** -0.5 + penalty
        heads = torch.einsum("bhts,bhsk->bthk", self.dropout(scores.softmax(dim=-1)), v)
        x = self.norms[0](x + self.dropout(self.mix(heads.reshape(B, T, D))))
        inner = self.dropout(functional.relu(self.widen(x)))
        return self.norms[1](x + self.dropout(self.narrow(inner)))


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
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.output_projection = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        allowed = create_look_ahead_mask(ids.size(1), device=ids.device)
        if mask is not None:
            allowed = allowed & (mask.unsqueeze(1) if mask.dim() == 3 else mask)
        x = self.positional_encoding(self.embedding(ids))
        penalty = torch.zeros_like(allowed, dtype=x.dtype).masked_fill(~allowed, torch.finfo(x.dtype).min / 2)
        for layer in self.layers:
            x = layer(x, penalty)
        return self.output_projection(x)
