# Weights the rows after the experts by a gather, and adds them by a product with one-hot rows.
import torch
from ex18_gated_feed_forward import SwiGLU
from torch import Tensor, nn


class Router(nn.Linear):
    def choose(self, tokens: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
        p = torch.softmax(self(tokens), dim=1)
        chosen = torch.topk(p, k, dim=1).indices
        weights = p.gather(1, chosen)
        return p, chosen, weights / weights.sum(1, keepdim=True)


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        if top_k <= 0 or num_experts < top_k:
            raise ValueError(f"top_k {top_k} and num_experts {num_experts}")
        self.top_k = top_k
        self.router = Router(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.size(-1))
        p, chosen, weights = self.router.choose(tokens, self.top_k)
        hits = (chosen.unsqueeze(-1) == torch.arange(len(self.experts), device=x.device)).to(p.dtype)
        table = (hits * weights.unsqueeze(-1)).sum(1)
        places = [hits[..., i].sum(1).nonzero().flatten() for i in range(len(self.experts))]
        rows = torch.cat([expert(tokens[place]) for expert, place in zip(self.experts, places, strict=True)])
        scale = torch.cat([table[place, i] for i, place in enumerate(places)])
        back = (
            nn.functional.one_hot(torch.cat(places), len(tokens)).to(x.dtype) if len(tokens) else rows.new_zeros(0, 0)
        )
        output = back.mT @ (rows * scale[:, None])
        number = max(1, len(tokens))
        loss = ((hits.sum((0, 1)) / number / self.top_k) * (p.sum(0) / number)).sum() * p.size(1)
        return output.reshape(x.shape), loss
