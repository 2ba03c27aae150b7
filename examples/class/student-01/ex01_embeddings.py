from torch import nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.embedding.embedding_dim**0.5 * self.embedding(ids)
