# A one-hot matrix times the scaled table.
from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        table = self.embedding.weight * self.embedding.embedding_dim**0.5
        chosen = nn.functional.one_hot(ids, self.embedding.num_embeddings).to(table.dtype)
        return chosen @ table
