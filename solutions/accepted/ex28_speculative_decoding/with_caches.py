# Both models have caches. Each round forgets what was refused by `truncate`.
import torch


def verify_draft(drafted, draft_probs, target_probs, uniforms):
    accepted = 0
    while accepted < len(drafted):
        token = drafted[accepted]
        if uniforms[accepted] * draft_probs[accepted, token] >= target_probs[accepted, token]:
            break
        accepted += 1
    else:
        return accepted, target_probs[accepted]
    rest = (target_probs[accepted] - draft_probs[accepted]).clip(min=0)
    if not rest.any():
        rest = target_probs[accepted]
    return accepted, rest / rest.sum()


class Reader:
    """A model with a cache: it is shown what it has not read yet."""

    def __init__(self, model, max_len, temperature):
        self.model, self.cache, self.temperature = model, model.make_cache(max_len), temperature
        self.length = 0

    def probs(self, ids):
        logits = self.model(ids[:, self.length :], cache=self.cache)[0]
        self.length = ids.size(1)
        if self.temperature == 0:
            return torch.nn.functional.one_hot(logits.argmax(-1), logits.size(-1)).float()
        return torch.softmax(logits / self.temperature, -1)

    def back_to(self, length):
        if self.length > length:
            for layer in self.cache:
                layer.truncate(length)
            self.length = length


@torch.no_grad()
def speculative_generate(target, draft, prompt, max_new_tokens, num_drafted, temperature=1.0, generator=None):
    ids, end = prompt, prompt.size(1) + max_new_tokens
    large, small = Reader(target, end, temperature), Reader(draft, end, temperature)
    while ids.size(1) < end:
        n, old = min(num_drafted, end - ids.size(1) - 1), ids.size(1)
        text, q = ids, []
        for _ in range(n):
            q.append(small.probs(text)[-1])
            text = torch.cat([text, torch.multinomial(q[-1], 1, generator=generator)[None]], 1)
        p = large.probs(text)[-n - 1 :]
        uniforms = torch.rand(n, generator=generator, device=p.device)
        kept, next_probs = verify_draft(text[0, old:], torch.stack(q) if n else p[:0], p, uniforms)
        ids = torch.cat([text[:, : old + kept], torch.multinomial(next_probs, 1, generator=generator)[None]], 1)
        large.back_to(old + kept)
        small.back_to(old + kept)
    return ids
