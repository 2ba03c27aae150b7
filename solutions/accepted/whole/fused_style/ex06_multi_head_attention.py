"""Multi-head attention with one parameter for queries, keys and values, cut by heads."""

import torch
from ex05_attention import masked_softmax
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        size = d_model // num_heads
        self.qkv = nn.Parameter(torch.empty(num_heads, 3, size, d_model))
        self.out = nn.Parameter(torch.empty(num_heads, size, d_model))
        self.out_bias = nn.Parameter(torch.zeros(d_model))
        self.dropout = nn.Dropout(dropout)
        self._weights: Tensor | None = None
        for parameter in (self.qkv, self.out):
            nn.init.uniform_(parameter, -(d_model**-0.5), d_model**-0.5)

    @property
    def num_heads(self) -> int:
        return self.qkv.size(0)

    @property
    def attention_weights(self) -> Tensor | None:
        return self._weights

    def from_reference(self, state: dict[str, Tensor]) -> None:
        heads = (self.num_heads, -1)
        with torch.no_grad():
            for i, name in enumerate(("w_q", "w_k", "w_v")):
                self.qkv[:, i].copy_(state[f"{name}.weight"].unflatten(0, heads))
            self.out.copy_(state["w_o.weight"].T.unflatten(0, heads))
            self.out_bias.copy_(state["w_o.bias"])

    def project(self, x: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Return some of the queries, keys and values of x, (B, H, T, K) each, from one product."""
        weight = self.qkv[:, first:last].flatten(0, 2)
        cut = (x @ weight.T).unflatten(-1, (self.num_heads, last - first, -1))
        return cut.permute(3, 0, 2, 1, 4).unbind(0)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        if query is key and key is value:
            q, k, v = self.project(query, 0, 3)
        elif key is value:
            (q,), (k, v) = self.project(query, 0, 1), self.project(key, 1, 3)
        else:
            (q,), (k,), (v,) = self.project(query, 0, 1), self.project(key, 1, 2), self.project(value, 2, 3)
        weights = masked_softmax(q.div(q.size(-1) ** 0.5) @ k.mT, mask)
        self._weights = weights.detach()
        mixed = self.dropout(weights) @ v
        return mixed.transpose(1, 2).flatten(2) @ self.out.flatten(0, 1) + self.out_bias
