import torch
from torch import nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.factor = d_model**0.5

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        sentences = []
        for sentence in ids:
            sentences.append(self.embedding(sentence) * self.factor)
        return torch.stack(sentences)
