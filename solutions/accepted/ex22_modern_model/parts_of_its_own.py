# Attention, norm and feed-forward network written out in the block, with a fused projection and the library's layers.
import math

import torch
from ex17_rotary_positions import RotaryPositionalEmbedding
from ex20_kv_cache import KVCache
from ex21_sliding_window import RollingKVCache, sliding_window_mask
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, d_model, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


class ModernBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_kv_heads=None, rope=None, eps=1e-5):
        super().__init__()
        self.heads, self.groups = num_heads, num_kv_heads or num_heads
        self.size = d_model // num_heads
        self.rope = rope
        self.ln1, self.ln2 = Norm(d_model, eps), Norm(d_model, eps)
        self.qkv = nn.Linear(d_model, (self.heads + 2 * self.groups) * self.size, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.gate_up = nn.Linear(d_model, 2 * d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def from_reference(self, state):
        self.ln1.weight.data.copy_(state["ln1.weight"])
        self.ln2.weight.data.copy_(state["ln2.weight"])
        self.qkv.weight.data.copy_(torch.cat([state[f"attn.{each}_proj.weight"] for each in "qkv"]))
        self.out.weight.data.copy_(state["attn.output_proj.weight"])
        self.gate_up.weight.data.copy_(torch.cat([state["ffn.w1.weight"], state["ffn.w3.weight"]]))
        self.down.weight.data.copy_(state["ffn.w2.weight"])

    def attend(self, x, mask, positions, cache):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, -1, self.size).transpose(1, 2).split([self.heads, self.groups, self.groups], 1)
        if self.rope is not None:
            if positions is None:
                positions = torch.arange(T, device=x.device) + (cache.length if cache is not None else 0)
            q, k = self.rope(q, positions), self.rope(k, positions)
        if cache is not None:
            k, v = cache.update(k, v)
        q = q.unflatten(1, (self.groups, -1))  # (B, G, M, T, K)
        scores = q @ k.unsqueeze(2).transpose(-2, -1) / math.sqrt(self.size)
        S = k.size(2)
        allowed = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        allowed = allowed if mask is None else allowed & mask
        weights = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
        return self.out((weights @ v.unsqueeze(2)).flatten(1, 2).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None, token_positions=None, cache=None):
        x = x + self.attend(self.ln1(x), mask, token_positions, cache)
        gate, up = self.gate_up(self.ln2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class ModernModel(nn.Module):
    def __init__(
        self,
        vocab_size,
        context_length,
        d_model,
        num_layers,
        num_heads,
        d_ff,
        rope_theta=10000.0,
        num_kv_heads=None,
        window=None,
        sinks=0,
        tie_weights=False,
        eps=1e-5,
    ):
        super().__init__()
        self.context_length, self.window, self.sinks = context_length, window, sinks
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        rope = RotaryPositionalEmbedding(rope_theta, d_model // num_heads, context_length)
        blocks = (ModernBlock(d_model, num_heads, d_ff, num_kv_heads, rope, eps) for _ in range(num_layers))
        self.layers = nn.ModuleList(blocks)
        self.ln_final = Norm(d_model, eps)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.xavier_normal_(self.token_embeddings.weight, gain=0.1)
        if tie_weights:
            self.lm_head.weight = self.token_embeddings.weight

    def make_cache(self, max_len=None):
        if self.window is None:
            return [KVCache(max_len or self.context_length) for _ in range(len(self.layers))]
        return [RollingKVCache(self.window, sinks=self.sinks) for _ in range(len(self.layers))]

    def forward(self, ids, cache=None):
        T = ids.size(-1)
        cache = cache or [None] * len(self.layers)
        past, held = (cache[0].length, cache[0].held) if len(cache) and cache[0] is not None else (0, 0)
        if past + T > self.context_length:
            raise ValueError(f"{past} + {T} > {self.context_length}")
        positions = torch.arange(past, past + T, device=ids.device)
        mask = sliding_window_mask(T, held + T, self.window, self.sinks, ids.device)
        x = F.embedding(ids, self.token_embeddings.weight)
        for layer, own in zip(self.layers, cache, strict=True):
            x = layer(x, mask, positions, own)
        return F.linear(self.ln_final(x), self.lm_head.weight)
