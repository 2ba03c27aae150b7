# Blocks over queries and keys; a tile that the causal bound closes is skipped. Closed scores are -inf.
import math

import torch


def one_tile(query, key, value, offset, causal, state):
    largest, total, output = state
    scores = torch.einsum("...tk,...sk->...ts", query, key)
    if causal:
        t, s = scores.shape[-2:]
        bound = torch.ones(t, s, dtype=torch.bool, device=query.device).tril(offset)
        scores = torch.where(bound, scores, float("-inf"))
    larger = torch.maximum(largest, scores.max(dim=-1).values)
    safe = torch.where(larger.isinf(), torch.zeros_like(larger), larger)
    correction = (largest - safe).exp()
    powers = (scores - safe.unsqueeze(-1)).exp()
    total = total * correction + powers.sum(-1)
    return larger, total, output * correction.unsqueeze(-1) + torch.einsum("...ts,...sv->...tv", powers, value)


def flash_attention(query, key, value, block_size, causal=False):
    if block_size <= 0:
        raise ValueError(f"expected a block_size of 1 or more, found {block_size}")
    kind = torch.float64 if query.dtype == torch.float64 else torch.float32
    T, S, K = query.shape[-2], key.shape[-2], query.shape[-1]
    results = []
    for first in range(0, T, block_size):
        rows = query[..., first : first + block_size, :].to(kind) * K**-0.5
        zeros = rows.new_zeros(rows.shape[:-1])
        state = (zeros - math.inf, zeros, rows.new_zeros((*rows.shape[:-1], value.shape[-1])))
        last_position = S - T + first + rows.shape[-2] - 1
        for start in range(0, S, block_size):
            if causal and start > last_position:
                break
            keys, values = (each[..., start : start + block_size, :].to(kind) for each in (key, value))
            state = one_tile(rows, keys, values, S - T + first - start, causal, state)
        results.append(state)
    largest, total, output = (
        torch.cat(each, dim=axis) for each, axis in zip(zip(*results, strict=True), (-1, -1, -2), strict=True)
    )
    nothing = total == 0
    output = output / torch.where(nothing, torch.ones_like(total), total).unsqueeze(-1)
    return output.type_as(query), largest + total.clamp_min(torch.finfo(kind).tiny).log()
