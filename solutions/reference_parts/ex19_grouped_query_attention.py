"""Reference part for ex19: heads stay in their groups, (B, G, M * T, K), so that keys and values are never repeated."""

import torch
from ex05_attention import scaled_dot_product_attention
from torch import nn


def repeat_kv(x, groups):
    return x.unsqueeze(2).expand(-1, -1, groups, -1, -1).flatten(1, 2)


def _cut(x, linear, heads):
    return torch.einsum("bti,hki->bhtk", x, linear.weight.unflatten(0, (heads, -1)))


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, rope=None):
        super().__init__()
        shared = num_heads if num_kv_heads is None else num_kv_heads
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        if num_heads % shared:
            raise ValueError(f"{shared} key-value heads cannot serve {num_heads} query heads")
        width = d_model // num_heads
        self.num_heads, self.num_kv_heads, self.rope = num_heads, shared, rope
        self.q_proj = nn.Linear(d_model, num_heads * width, bias=False)
        self.k_proj = nn.Linear(d_model, shared * width, bias=False)
        self.v_proj = nn.Linear(d_model, shared * width, bias=False)
        self.output_proj = nn.Linear(num_heads * width, d_model, bias=False)
        self.attention_weights = None

    def forward(self, x, mask=None, token_positions=None, cache=None):
        asks = _cut(x, self.q_proj, self.num_heads)
        answers = _cut(x, self.k_proj, self.num_kv_heads)
        gives = _cut(x, self.v_proj, self.num_kv_heads)
        count = x.size(1)
        if self.rope is not None:
            if token_positions is None:
                past = 0 if cache is None else cache.length
                token_positions = torch.arange(count, device=x.device).add(past)
            asks, answers = self.rope(asks, token_positions), self.rope(answers, token_positions)
        if cache is not None:
            answers, gives = cache.update(answers, gives)
        total = answers.size(2)
        places = torch.arange(total, device=x.device)
        open_to = places.le(places[total - count :].unsqueeze(-1))
        if mask is not None:
            open_to = torch.logical_and(open_to, mask if mask.dim() != 3 else mask.unsqueeze(1))
        open_to = open_to.expand(x.size(0), self.num_heads, count, total)
        grouped = (self.num_kv_heads, -1)
        folded = asks.unflatten(1, grouped).flatten(2, 3)
        mixed, shares = scaled_dot_product_attention(
            folded, answers, gives, open_to.unflatten(1, grouped).flatten(2, 3)
        )
        self.attention_weights = shares.unflatten(2, (-1, count)).flatten(1, 2).detach()
        back = self.output_proj.weight.unflatten(1, (self.num_heads, -1))
        return torch.einsum("bhtk,ohk->bto", mixed.unflatten(2, (-1, count)).flatten(1, 2), back)
