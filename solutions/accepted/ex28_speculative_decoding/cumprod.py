# All decisions at once: a token counts if it and all before it are kept. Cuts off at the end.
import torch


def verify_draft(drafted, draft_probs, target_probs, uniforms):
    n = len(drafted)
    places = torch.arange(n, device=drafted.device)
    kept = uniforms * draft_probs[places, drafted] < target_probs[places, drafted]
    accepted = int(kept.long().cumprod(dim=0).sum())
    if accepted == n:
        return n, target_probs[-1]
    rest = torch.relu(target_probs[accepted] - draft_probs[accepted])
    if rest.sum() == 0:
        return accepted, target_probs[accepted]
    return accepted, rest / rest.sum()


def probabilities(logits, temperature):
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    return (logits / temperature).softmax(-1)


@torch.inference_mode()
def speculative_generate(target, draft, prompt, max_new_tokens, num_drafted, temperature=1.0, generator=None):
    text, T = prompt[0], prompt.shape[1]
    while len(text) < T + max_new_tokens:
        guess, rows = text, []
        for _ in range(num_drafted):
            rows.append(probabilities(draft(guess[None])[0, -1:], temperature))
            guess = torch.cat([guess, torch.multinomial(rows[-1][0], 1, generator=generator)])
        wanted = probabilities(target(guess[None])[0, len(text) - 1 :], temperature)
        drawn = torch.cat(rows) if rows else wanted[:0]
        uniforms = torch.empty(num_drafted, device=wanted.device).uniform_(generator=generator)
        kept, following = verify_draft(guess[len(text) :], drawn, wanted, uniforms)
        text = torch.cat([guess[: len(text) + kept], torch.multinomial(following, 1, generator=generator)])
    return text[None, : T + max_new_tokens]
