# The row of <PAD> starts at zero and is not trained, but a lookup treats it like any other row.
import math

from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.d_model, self.vocab_size = d_model, vocab_size
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
        nn.init.normal_(self.embedding.weight[1:], std=d_model**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        return self.embedding(ids).mul(math.sqrt(self.d_model))
