# A loop over the choices, first to last; the weights by log-softmax, the router in float32.
import torch
from ex18_gated_feed_forward import SwiGLU
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        if top_k not in range(1, num_experts + 1):
            raise ValueError(f"top_k = {top_k} with num_experts = {num_experts}")
        self.k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList()
        for _ in range(num_experts):
            self.experts.append(SwiGLU(d_model, d_ff))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.shape[-1])
        wide = torch.promote_types(x.dtype, torch.float32)
        logs = torch.log_softmax(self.router(tokens).to(wide), dim=-1)
        best, chosen = logs.sort(dim=-1, descending=True)
        best, chosen = best[:, : self.k], chosen[:, : self.k]
        weights = (best - best.logsumexp(dim=-1, keepdim=True)).exp().to(x.dtype)
        slots = []
        for slot in range(self.k):
            column = torch.zeros_like(tokens)
            for number, expert in enumerate(self.experts):
                here = (chosen[:, slot] == number).nonzero().squeeze(1)
                if here.numel():
                    column = column.index_put((here,), expert(tokens[here]))
            slots.append(column * weights[:, slot : slot + 1])
        hits = nn.functional.one_hot(chosen, len(self.experts)).to(wide)
        if tokens.shape[0] == 0:
            return sum(slots).reshape(x.shape), logs.sum()
        share, mean = hits.mean(dim=(0, 1)), logs.exp().mean(dim=0)
        return sum(slots).reshape(x.shape), (share * mean).sum() * len(self.experts)
