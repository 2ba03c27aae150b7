# Filters as small objects, sums by triangular matrices, one loop for both models, best-first search for the beam.
import heapq
from dataclasses import dataclass

import torch
from ex04_masks import create_padding_mask, create_target_mask
from torch import Tensor, nn


@dataclass(frozen=True)
class TopK:
    k: int

    def __call__(self, shares: Tensor) -> Tensor:
        kept = torch.arange(shares.size(-1), device=shares.device) < self.k
        return shares * kept


@dataclass(frozen=True)
class TopP:
    p: float

    def __call__(self, shares: Tensor) -> Tensor:
        V = shares.size(-1)
        likelier = torch.ones(V, V, dtype=shares.dtype, device=shares.device).triu(diagonal=1)
        before = shares / shares.sum(dim=-1, keepdim=True) @ likelier
        kept = before < self.p
        kept[:, 0] = True
        return shares * kept


@dataclass
class Sampler:
    temperature: float
    filters: list
    generator: torch.Generator | None

    def __call__(self, logits: Tensor) -> Tensor:
        if self.temperature == 0:
            return logits.argmax(dim=-1)
        shares, order = torch.softmax(logits / self.temperature, dim=-1).sort(dim=-1, descending=True)
        for each in self.filters:
            shares = each(shares)
        return torch.gather(order, 1, shares.multinomial(1, generator=self.generator)).view(-1)


def sampler(temperature, top_k, top_p, generator):
    filters = [TopK(top_k)] if top_k is not None else []
    filters += [TopP(top_p)] if top_p is not None else []
    return Sampler(temperature, filters, generator)


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sampler(temperature, top_k, top_p, generator)(logits)


def write(ids, steps, next_logits, choose, eos_idx, pad_idx):
    going = torch.full((ids.size(0),), True, device=ids.device)
    for _ in range(steps):
        token = choose(next_logits(ids))
        token = token.masked_fill(~going, pad_idx)
        ids = torch.cat([ids, token.view(-1, 1)], dim=1)
        going = going & (token != eos_idx) if eos_idx is not None else going
        if not going.any():
            return ids
    return ids


def at_rest(model: nn.Module, work):
    training = model.training
    model.eval()
    with torch.no_grad():
        result = work()
    model.train(training)
    return result


def generate(
    model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, eos_idx=None, pad_idx=0, generator=None
):
    seq_len = model.positional_encoding.pe.size(1)
    choose = sampler(temperature, top_k, top_p, generator)
    return at_rest(
        model,
        lambda: write(prompt, max_new_tokens, lambda ids: model(ids[:, -seq_len:])[:, -1], choose, eos_idx, pad_idx),
    )


def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    src_mask = create_padding_mask(src, pad_idx)

    def translate():
        memory = model.encoder(src, src_mask)

        def next_logits(ids):
            return model.output_projection(model.decoder(ids, memory, src_mask, create_target_mask(ids, pad_idx)))[
                :, -1
            ]

        start = src.new_full((src.size(0), 1), sos_idx)
        return write(start, max_len - 1, next_logits, lambda logits: logits.argmax(dim=-1), eos_idx, pad_idx)

    return at_rest(model, translate)


def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    src_mask = create_padding_mask(src)

    def search():
        memory = model.encoder(src, src_mask)
        level, done = [(0.0, (sos_idx,))], []
        for length in range(1, max_len):
            places = []  # a heap of the beam_size best, the worst on top
            for total, ids in level:
                tgt = torch.tensor([ids], device=src.device)
                out = model.decoder(tgt, memory, src_mask, create_target_mask(tgt))
                for word, step in enumerate(model.output_projection(out)[0, -1].log_softmax(dim=0).tolist()):
                    entry = (total + step, (*ids, word))
                    if len(places) < beam_size:
                        heapq.heappush(places, entry)
                    else:
                        heapq.heappushpop(places, entry)
            penalty = ((5 + length) / 6) ** length_penalty
            ended = [entry for entry in places if entry[1][-1] == eos_idx or length + 1 == max_len]
            done += [(total / penalty, ids) for total, ids in ended]
            level = [entry for entry in places if entry not in ended]
        score, ids = max(done)
        return torch.tensor(ids, device=src.device), torch.tensor(score)

    return at_rest(model, search)
