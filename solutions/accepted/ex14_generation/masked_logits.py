# Logits filled with -inf in vocabulary order. The decoder gets only a look-ahead mask. Masks are made inline.
from contextlib import contextmanager

import torch


def keep_top_k(logits, k):
    kept = logits.topk(min(k, logits.size(-1)), dim=-1).indices
    return torch.full_like(logits, float("-inf")).scatter(-1, kept, logits.gather(-1, kept))


def keep_nucleus(logits, p):
    ordered, ids = logits.sort(dim=-1, descending=True, stable=True)
    reached = ordered.softmax(dim=-1).cumsum(dim=-1) >= p
    # Drop the tokens after the first one that reaches p. That token itself stays.
    removed = torch.cat([torch.zeros_like(reached[:, :1]), reached[:, :-1]], dim=-1)
    return logits.masked_fill(torch.zeros_like(removed).scatter(-1, ids, removed), float("-inf"))


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0.0:
        return logits.argmax(-1)
    logits = logits / temperature
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None and 0 < top_p < 1:
        logits = keep_nucleus(logits, top_p)
    elif top_p == 0:
        logits = keep_top_k(logits, 1)
    return torch.multinomial(logits.softmax(-1), num_samples=1, generator=generator).flatten()


@contextmanager
def evaluation(model):
    before = model.training
    with torch.no_grad():
        yield model.eval()
    model.train(before)


def causal(size, device):
    places = torch.arange(size, device=device)
    return places[:, None] >= places[None, :]


def generate(model, prompt, max_new_tokens, *choice, eos_idx=None, pad_idx=0, generator=None, **named):
    columns = list(prompt.unbind(dim=1))
    unfinished = torch.ones_like(columns[0])
    choice = dict(zip(("temperature", "top_k", "top_p"), choice, strict=False)) | named
    choice.setdefault("temperature", 0.0)
    with evaluation(model) as reader:
        seq_len = reader.positional_encoding.pe.size(1)
        for _ in range(max_new_tokens):
            shown = torch.stack(columns[-seq_len:], dim=1)
            next_ids = sample_next(reader(shown)[:, -1], generator=generator, **choice)
            columns.append(next_ids * unfinished + pad_idx * (1 - unfinished))
            if eos_idx is not None:
                unfinished = unfinished * (columns[-1] != eos_idx).long()
                if unfinished.sum() == 0:
                    break
    return torch.stack(columns, dim=1)


def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    src_mask = src.ne(pad_idx).unsqueeze(1).unsqueeze(2)
    columns = [torch.full_like(src[:, 0], sos_idx)]
    finished = torch.zeros_like(columns[0], dtype=torch.bool)
    with evaluation(model):
        memory = model.encoder(src, src_mask)
        while len(columns) < max_len and not bool(finished.all()):
            tgt = torch.stack(columns, dim=1)
            # The words before the end are never padding, so a look-ahead mask is enough.
            out = model.decoder(tgt, memory, src_mask, causal(tgt.size(1), src.device))
            next_ids = model.output_projection(out[:, -1:]).squeeze(1).argmax(dim=-1)
            next_ids[finished] = pad_idx
            columns.append(next_ids)
            finished |= next_ids == eos_idx
    return torch.stack(columns, dim=1)


def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    src_mask = src.ne(0)[:, None, None]
    hypotheses = {(sos_idx,): 0.0}
    complete = {}
    with evaluation(model):
        memory = model.encoder(src, src_mask)
        for length in range(1, max_len):
            tgt = torch.tensor(list(hypotheses), device=src.device)
            out = model.decoder(tgt, memory.repeat(len(tgt), 1, 1), src_mask, causal(length, src.device))
            steps = model.output_projection(out[:, -1]).log_softmax(dim=-1).tolist()
            extended = {
                (*ids, word): total + step
                for (ids, total), row in zip(hypotheses.items(), steps, strict=True)
                for word, step in enumerate(row)
            }
            best = sorted(extended, key=extended.get, reverse=True)[:beam_size]
            hypotheses = {ids: extended[ids] for ids in best if ids[-1] != eos_idx}
            divisor = ((5 + length) / 6) ** length_penalty
            complete |= {ids: extended[ids] / divisor for ids in best if ids[-1] == eos_idx or length == max_len - 1}
            if not hypotheses:
                break
    winner = max(complete, key=complete.get)
    return torch.tensor(winner, device=src.device), complete[winner]
