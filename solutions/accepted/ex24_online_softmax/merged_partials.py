# A softmax of each block alone; the partial results are merged by their logsumexps.
import torch


def flash_attention(query, key, value, block_size, causal=False):
    if block_size < 1:
        raise ValueError(f"block_size = {block_size}")
    dtype = query.dtype
    if dtype in (torch.float16, torch.bfloat16):
        query, key, value = query.float(), key.float(), value.float()
    T, S = query.shape[-2], key.shape[-2]
    positions = torch.arange(T, device=query.device) + S - T
    output, sums = None, None
    for index, (k, v) in enumerate(zip(key.split(block_size, dim=-2), value.split(block_size, dim=-2), strict=True)):
        scores = query @ k.mT * query.shape[-1] ** -0.5
        if causal:
            ahead = index * block_size + torch.arange(k.shape[-2], device=query.device) > positions[:, None]
            scores = scores + torch.zeros_like(scores).masked_fill(ahead, -1e30)
        part, its_sum = scores.softmax(dim=-1) @ v, scores.logsumexp(dim=-1)
        if output is None:
            output, sums = part, its_sum
            continue
        both = torch.logaddexp(sums, its_sum)
        output = (sums - both).exp()[..., None] * output + (its_sum - both).exp()[..., None] * part
        sums = both
    return output.to(dtype), sums
