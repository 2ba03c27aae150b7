# Sorts all choices by expert, so that each expert computes one slice.
import torch
from ex18_gated_feed_forward import SwiGLU
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        if top_k < 1 or top_k > num_experts:
            raise ValueError(f"cannot choose {top_k} of {num_experts} experts")
        self.top_k, self.num_experts = top_k, num_experts
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(num_experts)])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.flatten(0, -2) if x.dim() > 1 else x[None]
        logits = self.router(tokens)
        best, chosen = logits.topk(self.top_k, dim=-1)
        weights = torch.softmax(best, dim=-1)
        experts, order = chosen.flatten().sort(stable=True)
        counts = torch.bincount(experts, minlength=self.num_experts).tolist()
        rows = order // self.top_k
        parts = [expert(part) for expert, part in zip(self.experts, tokens[rows].split(counts), strict=True)]
        weighted = torch.cat(parts) * weights.flatten()[order][:, None]
        output = torch.zeros_like(tokens).scatter_add(0, rows[:, None].expand_as(weighted), weighted)
        if len(tokens) == 0:
            return output.reshape(x.shape), logits.sum()
        share = torch.tensor(counts, device=x.device) / len(order)
        return output.reshape(x.shape), self.num_experts * (share * logits.softmax(-1).mean(0)).sum()
