# Gumbel noise and arg-max for sampling, ranks for the filters, a mask for the model, Python lists as hypotheses.
import math

import torch
from ex04_masks import create_look_ahead_mask, create_padding_mask, create_target_mask


def ranks_of(scores):
    return scores.argsort(dim=-1, descending=True).argsort(dim=-1)


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        return torch.max(logits, dim=-1).indices
    scores = logits.float() / temperature
    ranks = ranks_of(scores)
    if top_k is not None:
        scores = torch.where(ranks < top_k, scores, -torch.inf)
    if top_p is not None:
        ordered = scores.softmax(-1).sort(dim=-1, descending=True).values
        needed = (ordered.cumsum(-1) < top_p).sum(dim=-1, keepdim=True) + 1
        scores = torch.where(ranks < needed, scores, -torch.inf)
    uniform = torch.rand(scores.shape, generator=generator, device=scores.device).clamp_min(1e-30)
    return (scores - torch.log(-torch.log(uniform))).argmax(dim=-1)


@torch.no_grad()
def generate(
    model,
    prompt,
    max_new_tokens,
    temperature=0.0,
    top_k=None,
    top_p=None,
    eos_idx=None,
    pad_idx=0,
    generator=None,
):
    mode = model.training
    model.eval()
    longest = model.positional_encoding.pe.shape[1]
    text, alive = prompt.clone(), torch.ones(len(prompt), dtype=torch.bool, device=prompt.device)
    while text.shape[1] < prompt.shape[1] + max_new_tokens and alive.any():
        shown = text[:, max(0, text.shape[1] - longest) :]
        logits = model(shown, create_look_ahead_mask(shown.shape[1], device=shown.device))
        token = sample_next(logits[:, -1, :], temperature, top_k, top_p, generator)
        token = torch.where(alive, token, pad_idx)
        text = torch.hstack([text, token[:, None]])
        if eos_idx is not None:
            alive &= token != eos_idx
    model.train(mode)
    return text


@torch.no_grad()
def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    mode = model.training
    model.eval()
    src_mask = create_padding_mask(src, pad_idx=pad_idx)
    memory = model.encoder(src, mask=src_mask)
    words = torch.tensor([[sos_idx]] * len(src), device=src.device)
    alive = torch.ones(len(src), dtype=torch.bool, device=src.device)
    for _ in range(max_len - 1):
        out = model.decoder(words, memory, src_mask=src_mask, tgt_mask=create_target_mask(words, pad_idx=pad_idx))
        word = torch.softmax(model.output_projection(out), dim=-1)[:, -1].argmax(-1)
        word = torch.where(alive, word, pad_idx)
        words = torch.hstack([words, word[:, None]])
        alive &= word != eos_idx
        if not alive.any():
            break
    model.train(mode)
    return words


@torch.no_grad()
def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    mode = model.training
    model.eval()
    src_mask = create_padding_mask(src)
    memory = model.encoder(src, src_mask)
    beam = [([sos_idx], 0.0)]

    def score(hypothesis):
        ids, total = hypothesis
        return total / ((5 + len(ids) - 1) / 6) ** length_penalty

    # Ended hypotheses stay in the beam and compete with the others.
    for _ in range(max_len - 1):
        extended = []
        for ids, total in beam:
            if ids[-1] == eos_idx and len(ids) > 1:
                extended.append((ids, total))
                continue
            tgt = torch.tensor([ids], device=src.device)
            out = model.output_projection(model.decoder(tgt, memory, src_mask, create_target_mask(tgt)))[0, -1]
            for word, logarithm in enumerate(out.log_softmax(-1).tolist()):
                if logarithm > -math.inf:
                    extended.append(([*ids, word], total + logarithm))
        beam = sorted(extended, key=lambda each: each[1], reverse=True)[:beam_size]
        if all(ids[-1] == eos_idx for ids, _ in beam):
            break
    model.train(mode)
    best = max(beam, key=score)
    return torch.tensor(best[0], device=src.device), score(best)
