# Sampling by an exponential race (the smallest waiting time wins) in float64. The model gets a padding mask too.
import torch
from ex04_masks import create_padding_mask, create_target_mask


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature < 1e-8:
        return logits.argmax(dim=-1)
    logarithms = torch.log_softmax(logits.double() / temperature, dim=-1)
    order = logarithms.argsort(dim=-1, descending=True)
    shares = logarithms.gather(-1, order).exp()
    allowed = torch.ones_like(shares, dtype=torch.bool)
    if top_k is not None:
        allowed &= torch.arange(shares.size(-1), device=shares.device) < top_k
    shares = shares * allowed / (shares * allowed).sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached_before = torch.nn.functional.pad(shares.cumsum(dim=-1), (1, -1)) >= top_p
        reached_before[..., 0] = False
        allowed &= ~reached_before
    waiting = torch.empty_like(shares).exponential_(generator=generator)
    winner = torch.where(allowed, shares / waiting, -1.0).argmax(dim=-1, keepdim=True)
    return torch.take_along_dim(order, winner, dim=-1)[:, 0]


def generate(
    model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, eos_idx=None, pad_idx=0, generator=None
):
    was, _ = model.training, model.train(False)
    previously = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        return _generate(model, prompt, max_new_tokens, temperature, top_k, top_p, eos_idx, pad_idx, generator)
    finally:
        torch.set_grad_enabled(previously)
        model.train(was)


def _generate(model, ids, left, temperature, top_k, top_p, eos_idx, pad_idx, generator, ended=None):
    # One step, and the rest by recursion.
    if left == 0 or (ended is not None and ended.all()):
        return ids
    shown = ids[:, -model.positional_encoding.pe.size(1) :]
    logits = model(shown, mask=create_target_mask(shown, pad_idx))[:, -1]
    tokens = sample_next(logits, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
    if ended is None:
        ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    tokens[ended] = pad_idx
    if eos_idx is not None:
        ended = ended.logical_or(tokens == eos_idx)
    ids = torch.cat((ids, tokens[:, None]), dim=-1)
    return _generate(model, ids, left - 1, temperature, top_k, top_p, eos_idx, pad_idx, generator, ended)


@torch.inference_mode()
def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    was, _ = model.training, model.eval()
    src_mask = create_padding_mask(src, pad_idx)
    memory = model.encoder(src, src_mask)
    ids = torch.full((len(src), 1), sos_idx, device=src.device)
    for _ in range(1, max_len):
        has_ended = (ids == eos_idx)[:, 1:].any(dim=1)  # from the words so far
        if has_ended.all():
            break
        states = model.decoder(
            ids, memory, src_mask.expand(-1, 1, ids.size(1), -1), create_target_mask(ids, pad_idx).squeeze(1)
        )
        words = model.output_projection(states).argmax(dim=-1)[:, -1]
        ids = torch.cat((ids, words.where(~has_ended, torch.tensor(pad_idx, device=src.device))[:, None]), dim=1)
    model.train(was)
    return ids


@torch.inference_mode()
def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    was, _ = model.training, model.eval()
    src_mask = create_padding_mask(src)
    memory = model.encoder(src, src_mask)
    alive, sums = torch.full((1, 1), sos_idx, device=src.device), torch.zeros(1, device=src.device)
    complete = []
    while alive.size(1) < max_len and len(alive):
        decoded = model.decoder(alive, memory.expand(len(alive), -1, -1), src_mask, create_target_mask(alive))
        totals = sums[:, None] + model.output_projection(decoded)[:, -1].log_softmax(dim=-1)
        # Take twice as many candidates as needed, because those that end leave the beam.
        best, chosen = totals.flatten().topk(min(2 * beam_size, totals.numel()))
        extended = torch.cat([alive[chosen // totals.size(1)], (chosen % totals.size(1))[:, None]], dim=1)
        ends = extended[:, -1] == eos_idx
        for rank in torch.nonzero(ends[:beam_size]).flatten().tolist():
            complete.append((float(best[rank]), extended[rank]))
        if len(complete) >= beam_size:
            alive = alive[:0]
            break
        alive, sums = extended[~ends][:beam_size], best[~ends][:beam_size]
    complete += list(zip(sums.tolist(), alive, strict=True)) if len(alive) else []
    model.train(was)
    scored = [(total / ((4 + len(ids)) / 6) ** length_penalty, ids) for total, ids in complete]
    score, ids = max(scored, key=lambda each: each[0])
    return ids, score
