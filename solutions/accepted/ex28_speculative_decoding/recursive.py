# Verifies the first token and hands on the rest; the rounds are a generator of tokens.
from itertools import islice

import torch
from torch.nn import functional as F


def verify_draft(drafted, draft_probs, target_probs, uniforms):
    if drafted.numel() == 0:
        return 0, target_probs[0]
    x, p, q = int(drafted[0]), target_probs[0], draft_probs[0]
    if bool(uniforms[0] < torch.minimum(p[x] / q[x], torch.ones_like(q[x]))):
        accepted, following = verify_draft(drafted[1:], draft_probs[1:], target_probs[1:], uniforms[1:])
        return accepted + 1, following
    following = torch.where(p > q, p - q, torch.zeros_like(p))
    return 0, F.normalize(following, p=1, dim=0) if following.sum() > 0 else p


def tokens(target, draft, text, num_drafted, probs, generator, device):
    while True:
        longer, rows = list(text), []
        for _ in range(num_drafted):
            rows.append(probs(draft(torch.tensor([longer], device=device))[0, -1]))
            longer.append(rows[-1].multinomial(1, generator=generator).item())
        p = probs(target(torch.tensor([longer], device=device))[0, len(text) - 1 :])
        q = torch.stack(rows) if rows else p.new_zeros(0, p.size(1))
        ids = torch.tensor(longer[len(text) :], dtype=torch.long, device=device)
        kept, following = verify_draft(ids, q, p, torch.rand(len(ids), generator=generator, device=device))
        for token in [*longer[len(text) : len(text) + kept], following.multinomial(1, generator=generator).item()]:
            text.append(token)
            yield token


def speculative_generate(target, draft, prompt, max_new_tokens, num_drafted, temperature=1.0, generator=None):
    def probs(logits):
        if temperature == 0:
            return F.one_hot(logits.argmax(-1), logits.size(-1)).float()
        return F.softmax(logits / temperature, dim=-1)

    with torch.no_grad():
        text = prompt[0].tolist(), num_drafted, probs, generator, prompt.device
        new = list(islice(tokens(target, draft, *text), max_new_tokens))
    return torch.cat([prompt, prompt.new_tensor(new)[None]], dim=1)
