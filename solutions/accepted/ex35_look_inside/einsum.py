# Masks and products in place of slices; a context manager holds each hook.
import torch


def logit_lens(states, norm, unembedding):
    return torch.einsum("lbtd,vd->lbtv", norm(states), unembedding)


def without_heads(output, heads, num_heads, with_mean=False):
    for head in heads:
        if head not in range(num_heads):
            raise ValueError(f"head {head} of {num_heads}")
    width = output.shape[-1]
    keep = torch.ones(num_heads, dtype=output.dtype, device=output.device)
    for head in heads:
        keep[head] = 0
    keep = keep.repeat_interleave(width // num_heads)
    rest = 1 - keep
    if with_mean:
        return output * keep + output.reshape(-1, width).mean(0) * rest
    return output * keep


def patched(model, module, clean, corrupted, position):
    seen = []

    class Recorder:
        def __init__(self, mode):
            self.handle = module.register_forward_hook(self.record if mode == "record" else self.write)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.handle.remove()

        def record(self, _module, _args, out):
            seen.append(out)

        def write(self, _module, _args, out):
            at = torch.arange(out.size(1), device=out.device) == position
            return torch.where(at.view(1, -1, *[1] * (out.dim() - 2)), seen[-1], out)

    with torch.no_grad():
        with Recorder("record"):
            model(clean)
        with Recorder("write"):
            return model(corrupted)


def recovered(patched, clean, corrupted):
    top, bottom = patched - corrupted, clean - corrupted
    return torch.where(bottom != 0, top / bottom, torch.zeros_like(top))


def induction_scores(weights, period):
    length = weights.size(-1)
    rows = torch.arange(period, length, device=weights.device)
    return weights.mean(0)[:, rows, rows - period + 1].mean(-1)
