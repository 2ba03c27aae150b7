# Views, permuted axes and masked_fill.
import contextlib

import torch


def logit_lens(states, norm, unembedding):
    flat = norm(states).reshape(-1, states.shape[-1])
    return (unembedding @ flat.t()).t().reshape(*states.shape[:-1], unembedding.shape[0])


def without_heads(output, heads, num_heads, with_mean=False):
    bad = set(heads).difference(range(num_heads))
    if bad:
        raise ValueError("unknown heads " + ", ".join(str(head) for head in sorted(bad)))
    by_head = output.view(*output.shape[:2], num_heads, output.shape[2] // num_heads).permute(2, 0, 1, 3).clone()
    for head in set(heads):
        by_head[head] = by_head[head].mean((0, 1)) if with_mean else torch.zeros_like(by_head[head])
    return by_head.permute(1, 2, 0, 3).reshape(output.shape)


@contextlib.contextmanager
def hooked(module, hook):
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def patched(model, module, clean, corrupted, position):
    memory = []
    with torch.no_grad(), hooked(module, lambda *args: memory.append(args[-1][:, position].clone())):
        model(clean)

    def change(_module, _inputs, result):
        result = result.clone()
        result.select(1, position).copy_(memory[0])
        return result

    with torch.no_grad(), hooked(module, change):
        return model(corrupted)


def recovered(patched, clean, corrupted):
    whole = clean - corrupted
    return torch.nan_to_num((patched - corrupted) / whole, nan=0.0, posinf=0.0, neginf=0.0)


def induction_scores(weights, period):
    batch, _, length, _ = weights.shape
    mask = torch.zeros(length, length, dtype=torch.bool, device=weights.device)
    for place in range(period, length):
        mask[place, place - period + 1] = True
    return weights.masked_fill(~mask, 0).sum((0, 2, 3)) / (batch * (length - period))
