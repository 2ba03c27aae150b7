"""Generation: inverse sampling over sorted probabilities, and a beam search over whole tensors."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from ex04_masks import create_padding_mask, create_target_mask
from torch import Tensor, nn


@contextmanager
def looking(model: nn.Module) -> Iterator[None]:
    mode = model.training
    try:
        with torch.no_grad():
            yield model.eval()
    finally:
        model.train(mode)


def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    if temperature == 0:
        return logits.argmax(-1)
    ranked, ids = logits.float().sort(-1, descending=True)
    p = ((ranked - ranked[:, :1]) / temperature).softmax(-1)
    if top_k is not None:
        p = p[:, :top_k] / p[:, :top_k].sum(-1, keepdim=True)
    if top_p is not None and top_p < 1:
        before = p.cumsum(-1) - p
        p = p * (before < top_p).index_fill(-1, torch.tensor(0, device=p.device), True)
    cdf = p.cumsum(-1)
    u = torch.rand(p.size(0), 1, generator=generator, device=p.device) * cdf[:, -1:]
    rank = torch.searchsorted(cdf, u, right=True).minimum((p > 0).sum(-1, keepdim=True) - 1)
    return ids.gather(-1, rank)[:, 0]


def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_idx: int | None = None,
    pad_idx: int = 0,
    generator: torch.Generator | None = None,
) -> Tensor:
    window = model.positional_encoding.pe.size(1)
    ids, going = prompt, torch.ones_like(prompt[:, 0], dtype=torch.bool)
    with looking(model):
        for _ in range(max_new_tokens):
            token = sample_next(model(ids[:, -window:])[:, -1], temperature, top_k, top_p, generator)
            token = token.where(going, pad_idx)
            ids = torch.cat((ids, token[:, None]), 1)
            going = going if eos_idx is None else going & (token != eos_idx)
            if not going.any():
                break
    return ids


def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    ids = torch.full_like(src[:, :1], sos_idx)
    going = torch.ones_like(src[:, 0], dtype=torch.bool)
    with looking(model):
        src_mask = create_padding_mask(src, pad_idx)
        memory = model.encoder(src, src_mask)
        while ids.size(1) < max_len and going.any():
            out = model.decoder(ids, memory, src_mask, create_target_mask(ids, pad_idx))
            token = model.output_projection(out[:, -1]).argmax(-1).where(going, pad_idx)
            ids, going = torch.cat((ids, token[:, None]), 1), going & (token != eos_idx)
    return ids


def beam_search(
    model: nn.Module,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    sos_idx: int = 1,
    eos_idx: int = 2,
) -> tuple[Tensor, float]:
    beams, sums = src.new_full((1, 1), sos_idx), torch.zeros(1, device=src.device)
    best, best_score = beams[0], float("-inf")

    def keep(rows: Tensor, totals: Tensor) -> None:
        nonlocal best, best_score
        scores = totals / ((4 + rows.size(1)) / 6) ** length_penalty
        if len(scores) and scores.max().item() > best_score:
            best, best_score = rows[scores.argmax()], scores.max().item()

    with looking(model):
        while beams.size(1) < max_len and len(beams):
            log_p = model(src.expand(len(beams), -1), beams)[:, -1].float().log_softmax(-1)
            totals = (sums[:, None] + log_p).flatten()
            sums, at = totals.topk(min(beam_size, totals.numel()))
            beams = torch.cat((beams[at // log_p.size(1)], (at % log_p.size(1))[:, None]), 1)
            ended = beams[:, -1] == eos_idx
            keep(beams[ended], sums[ended])
            beams, sums = beams[~ended], sums[~ended]
        keep(beams, sums)
    return best, best_score
