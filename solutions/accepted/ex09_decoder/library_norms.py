# Library norms, filled by from_reference, computed in float32 or better.
import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn
from torch.nn import functional


class Norm(nn.LayerNorm):
    def __init__(self, d_model: int) -> None:
        super().__init__(d_model, eps=1e-6)

    def from_reference(self, state: dict[str, Tensor]) -> None:
        self.load_state_dict({"weight": state["alpha"], "bias": state["bias"]})

    def forward(self, x: Tensor) -> Tensor:
        wide = torch.promote_types(x.dtype, torch.float32)
        normal = functional.layer_norm(
            x.to(wide), self.normalized_shape, self.weight.to(wide), self.bias.to(wide), self.eps
        )
        return normal.to(x.dtype)


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.layer_norm_1 = Norm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.layer_norm_2 = Norm(d_model)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_3 = Norm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        own = self.layer_norm_1(torch.add(x, self.dropout(self.self_attention(x, x, x, tgt_mask))))
        source = encoder_output, encoder_output, src_mask
        read = self.layer_norm_2(torch.add(own, self.dropout(self.cross_attention(own, *source))))
        return self.layer_norm_3(torch.add(read, self.dropout(self.feed_forward(read))))


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
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        sizes = (d_model, num_heads, d_ff, dropout)
        self.decoder_blocks = nn.ModuleList(DecoderBlock(*sizes) for _ in range(num_decoder_blocks))
        self.layer_norm = Norm(d_model)

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        vectors = [self.positional_encoding(self.embedding(ids))]
        for block in self.decoder_blocks:
            vectors.append(block(vectors[-1], encoder_output, src_mask, tgt_mask))
        return self.layer_norm(vectors[-1])
