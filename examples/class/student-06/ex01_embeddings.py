import numpy as np
import torch
import torch.nn as nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)
        self.sqrt_d = float(np.sqrt(d_model))

    def forward(self, ids):
        out = self.embedding(ids)
        out = torch.mul(out, self.sqrt_d)
        return out
