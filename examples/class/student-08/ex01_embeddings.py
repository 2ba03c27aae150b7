import torch
from torch import nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):
        super(InputEmbeddings, self).__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.d_model = d_model

    def forward(self, ids):
        vectors = self.embedding(ids)
        root = torch.sqrt(torch.tensor(float(self.d_model)))
        return vectors * root.to(vectors)
