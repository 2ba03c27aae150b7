# A dense table of weights, with a mask for the choice; each expert takes its rows by a mask.
import torch
from ex18_gated_feed_forward import SwiGLU
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        if not 0 < top_k < num_experts + 1:
            raise ValueError(f"{top_k} of {num_experts}")
        self.num_experts, self.top_k = num_experts, top_k
        self.router = nn.Linear(d_model, num_experts, False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.size(-1))
        p = self.router(tokens).softmax(-1)
        chosen = torch.zeros_like(p).scatter(1, p.argsort(-1, descending=True)[:, : self.top_k], 1.0)
        kept = p * chosen
        weights = kept / kept.sum(-1, keepdim=True)
        y = tokens * 0
        for i in range(self.num_experts):
            mask = chosen[:, i] > 0
            y = y.masked_scatter(mask[:, None], y[mask] + weights[mask, i, None] * self.experts[i](tokens[mask]))
        number = tokens.shape[0] or 1
        f, mean = chosen.detach().sum(0) / (number * self.top_k), p.sum(0) / number
        return y.view_as(x), torch.dot(f, mean) * self.num_experts
