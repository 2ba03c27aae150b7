"""Token embeddings, looked up and scaled in one line."""

from torch import Tensor, nn
from torch.nn import functional as F


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.embedding.weight) * self.embedding.embedding_dim**0.5
