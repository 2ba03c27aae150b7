from functools import wraps

import torch
from ex04_masks import create_padding_mask, create_target_mask


def in_eval_mode(f):
    @wraps(f)
    def wrapped(model, *args, **kwargs):
        training = model.training
        try:
            with torch.no_grad():
                return f(model.eval(), *args, **kwargs)
        finally:
            model.train(training)

    return wrapped


def grow(ids, steps, choose, eos_idx, pad_idx):
    going = torch.ones_like(ids[:, 0], dtype=torch.bool)
    while steps > 0 and going.any():
        new = torch.where(going, choose(ids), pad_idx)
        ids = torch.cat([ids, new[:, None]], 1)
        going = going & (new != eos_idx) if eos_idx is not None else going
        steps -= 1
    return ids


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0:
        return logits.argmax(-1)
    z, ids = (logits / temperature).sort(-1, descending=True)
    if top_k is not None:
        z = z[:, :top_k]
    if top_p is not None and top_p < 1:
        p = z.softmax(-1)
        cut = p.cumsum(-1) - p >= top_p
        cut[:, 0] = False
        z = z.masked_fill(cut, -torch.inf)
    # the largest of logits plus Gumbel noise is a draw from their softmax
    noise = -torch.empty_like(z).exponential_(generator=generator).log()
    return ids.gather(-1, (z + noise).argmax(-1, keepdim=True)).squeeze(-1)


@in_eval_mode
def generate(
    model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, eos_idx=None, pad_idx=0, generator=None
):
    longest = model.positional_encoding.pe.shape[1]

    def choose(ids):
        return sample_next(model(ids[:, -longest:])[:, -1], temperature, top_k, top_p, generator)

    return grow(prompt, max_new_tokens, choose, eos_idx, pad_idx)


@in_eval_mode
def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    src_mask = create_padding_mask(src, pad_idx)
    memory = model.encoder(src, src_mask)

    def choose(ids):
        x = model.decoder(ids, memory, src_mask, create_target_mask(ids, pad_idx))
        return model.output_projection(x[:, -1]).argmax(-1)

    return grow(src.new_full((len(src), 1), sos_idx), max_len - 1, choose, eos_idx, pad_idx)


@in_eval_mode
def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    src_mask = create_padding_mask(src)
    memory = model.encoder(src, src_mask)
    beam, done = [(0.0, (sos_idx,))], []
    for L in range(1, max_len):
        if not beam:
            break
        ids = torch.tensor([y for _, y in beam], device=src.device)
        x = model.decoder(ids, memory.expand(len(ids), -1, -1), src_mask, create_target_mask(ids))
        logp = model.output_projection(x[:, -1]).log_softmax(-1).tolist()
        longer = [(s + q, (*y, w)) for (s, y), row in zip(beam, logp) for w, q in enumerate(row)]
        best = sorted(longer, reverse=True)[:beam_size]
        beam = [(s, y) for s, y in best if y[-1] != eos_idx]
        ended = best if L == max_len - 1 else [(s, y) for s, y in best if y[-1] == eos_idx]
        done += [(s / ((5 + L) / 6) ** length_penalty, y) for s, y in ended]
    score, y = max(done)
    return torch.tensor(y, device=src.device), score
