# One token after another, each through its own experts.
import torch
from ex18_gated_feed_forward import SwiGLU
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        if min(top_k, num_experts - top_k + 1) < 1:
            raise ValueError(f"top_k: {top_k}, experts: {num_experts}")
        self.top_k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))

    def one(self, token: Tensor, p: Tensor) -> Tensor:
        best = p.topk(self.top_k)
        total = best.values.sum()
        return sum(p[i] / total * self.experts[i](token) for i in best.indices.tolist())

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.size(-1))
        p = self.router(tokens).softmax(dim=-1)
        y = torch.stack([self.one(token, row) for token, row in zip(tokens, p, strict=True)]) if len(tokens) else tokens
        if not len(tokens):
            return y.reshape(x.shape), p.sum()
        counts = [0] * len(self.experts)
        for i in p.topk(self.top_k, dim=-1).indices.flatten().tolist():
            counts[i] += 1
        loss = sum(count * p[:, i].mean() for i, count in enumerate(counts)) / sum(counts)
        return y.reshape(x.shape), len(counts) * loss
