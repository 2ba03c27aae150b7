# Each query alone, in a loop over flattened leading axes; scores in the dtype of the input, sums wider.
import torch


def one_query(query, keys, values, block_size, open_keys):
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    m = total = o = None
    for start in range(0, max(open_keys, 1), block_size):
        stop = min(start + block_size, max(open_keys, 1))
        s = (keys[start:stop] @ query / len(query) ** 0.5).to(wide)
        m_new = s.max() if m is None else torch.maximum(m, s.max())
        p = torch.exp(s - m_new)
        step = (p.sum(), (p.unsqueeze(1) * values[start:stop].to(wide)).sum(0))
        if m is None:
            total, o = step
        else:
            a = torch.exp(m - m_new)
            total, o = a * total + step[0], a * o + step[1]
        m = m_new
    return (o / total).to(query.dtype), m + total.log()


def flash_attention(query, key, value, block_size, causal=False):
    if block_size < 1:
        raise ValueError(f"block_size must not be {block_size}")
    T, S = query.shape[-2], key.shape[-2]
    leading = query.shape[:-2]
    flat = [each.reshape(-1, *each.shape[-2:]) for each in (query, key, value)]
    outputs, sums = [], []
    for q, k, v in zip(*flat, strict=True):
        rows = [one_query(q[t], k, v, block_size, S - T + t + 1 if causal else S) for t in range(T)]
        outputs.append(torch.stack([row[0] for row in rows]))
        sums.append(torch.stack([row[1] for row in rows]))
    return (
        torch.stack(outputs).reshape(*leading, T, value.shape[-1]),
        torch.stack(sums).reshape(*leading, T),
    )
