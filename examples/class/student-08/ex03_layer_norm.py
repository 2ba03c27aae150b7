import torch
from torch import nn


class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super(LayerNormalization, self).__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        # make it a list of vectors, normalize one after the other
        vectors = x.reshape(-1, x.size(-1))
        normalized = torch.zeros_like(vectors)
        row = 0
        while row < vectors.size(0):
            v = vectors[row]
            mean = v.sum() / len(v)
            variance = ((v - mean) ** 2).sum() / len(v)
            normalized[row] = (v - mean) / torch.sqrt(variance + self.eps)
        return self.alpha * normalized.reshape(x.shape) + self.bias
