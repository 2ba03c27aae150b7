# FlashAttention-2: the backward pass computes each block's weights again from the logsumexp (algorithm 2).
import torch


def block(query, key, start, stop, causal):
    scores = query @ key[..., start:stop, :].transpose(-2, -1)
    if causal:
        T, S = query.size(-2), key.size(-2)
        place = torch.arange(T, device=query.device)[:, None] + (S - T)
        closed = torch.arange(start, stop, device=query.device)[None] > place
        scores = scores.masked_fill(closed, torch.finfo(scores.dtype).min / 4)
    return scores


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, size, causal):
        query = query / key.size(-1) ** 0.5
        S = key.size(-2)
        m = torch.full_like(query[..., :1], torch.finfo(query.dtype).min / 2)
        total = torch.zeros_like(m)
        o = torch.zeros_like(query[..., :1] * value[..., :1, :])
        for start in range(0, S, size):
            stop = min(S, start + size)
            s = block(query, key, start, stop, causal)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, c = (s - new).exp_(), (m - new).exp_()
            total.mul_(c).add_(p.sum(-1, keepdim=True))
            o.mul_(c).add_(p @ value[..., start:stop, :])
            m = new
        o.div_(total)
        sums = m + total.log()
        ctx.save_for_backward(query, key, value, o, sums)
        ctx.size, ctx.causal = size, causal
        return o, sums.squeeze(-1)

    @staticmethod
    def backward(ctx, grad_o, grad_sums):
        query, key, value, o, sums = ctx.saved_tensors
        dq, dk, dv = (torch.zeros_like(each) for each in (query, key, value))
        shift = (grad_o * o).sum(-1, keepdim=True) - grad_sums[..., None]
        for start in range(0, key.size(-2), ctx.size):
            part = slice(start, min(key.size(-2), start + ctx.size))
            p = (block(query, key, part.start, part.stop, ctx.causal) - sums).exp()
            ds = p * (grad_o @ value[..., part, :].mT - shift)
            dv[..., part, :] += p.mT @ grad_o
            dk[..., part, :] += ds.mT @ query
            dq += ds @ key[..., part, :]
        return dq / key.size(-1) ** 0.5, dk, dv, None, None


def flash_attention(query, key, value, block_size, causal=False):
    if block_size < 1:
        raise ValueError(f"block_size {block_size} is too small")
    dtype = torch.promote_types(query.dtype, torch.float32)
    o, sums = Flash.apply(query.to(dtype), key.to(dtype), value.to(dtype), block_size, causal)
    return o.to(query.dtype), sums
