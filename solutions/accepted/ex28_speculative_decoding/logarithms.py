# Compares logarithms, and draws from a distribution by its cumulative sum.
import torch


def verify_draft(drafted, draft_probs, target_probs, uniforms):
    count = drafted.shape[0]
    column = drafted[:, None]
    ratio = target_probs[:count].gather(1, column).log() - draft_probs.gather(1, column).log()
    refused = (~(uniforms.log() < ratio[:, 0])).nonzero()
    if refused.numel() == 0:
        return count, target_probs[count].clone()
    first = refused[0].item()
    more = target_probs[first] - torch.minimum(target_probs[first], draft_probs[first])
    mass = more.sum()
    return first, torch.where(mass > 0, more / mass.clamp_min(1e-300 if mass.dtype == torch.float64 else 1e-30),
                              target_probs[first])  # fmt: skip


class Sampler:
    def __init__(self, temperature, generator):
        self.temperature, self.generator = temperature, generator

    def uniform(self, like, count):
        return torch.rand(count, generator=self.generator, device=like.device, dtype=torch.float64)

    def rows(self, logits):
        if not self.temperature:
            return torch.eye(logits.shape[-1], dtype=torch.float64, device=logits.device)[logits.argmax(-1)]
        return torch.log_softmax(logits.double() / self.temperature, -1).exp()

    def draw(self, row):
        edges = row.cumsum(0)
        point = self.uniform(row, 1) * edges[-1]
        return torch.searchsorted(edges, point, right=True).clamp(max=len(row) - 1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_drafted, temperature=1.0, generator=None):
    sampler = Sampler(temperature, generator)
    new = prompt[:, :0]
    with torch.no_grad():
        while new.shape[1] < max_new_tokens:
            count = min(num_drafted, max_new_tokens - new.shape[1])
            drafted, rows = new[:, :0], []
            for _ in range(count):
                logits = draft(torch.cat([prompt, new, drafted], 1))
                rows.append(sampler.rows(logits[0, -1]))
                drafted = torch.cat([drafted, sampler.draw(rows[-1])[None]], 1)
            p = sampler.rows(target(torch.cat([prompt, new, drafted], 1))[0])[-(count + 1) :]
            q = torch.stack(rows) if count else p[:0]
            kept, next_probs = verify_draft(drafted[0], q, p, sampler.uniform(p, count))
            new = torch.cat([new, drafted[:, :kept], sampler.draw(next_probs)[None]], 1)
    return torch.cat([prompt, new[:, :max_new_tokens]], 1)
