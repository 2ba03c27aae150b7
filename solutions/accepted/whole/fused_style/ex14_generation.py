"""Generation on the rows that have not ended, with Gumbel sampling and a batched beam."""

from collections.abc import Callable
from functools import partial

import torch
from ex04_masks import create_padding_mask, create_target_mask
from torch import Tensor, nn


class Looking:
    """Switch to eval mode without gradients, then restore the mode of every module."""

    def __init__(self, model: nn.Module) -> None:
        self.modes = [(part, part.training) for part in model.modules()]
        self.model = model
        self.no_grad = torch.no_grad()

    def __enter__(self) -> None:
        self.model.eval()
        self.no_grad.__enter__()

    def __exit__(self, *error: object) -> None:
        self.no_grad.__exit__(*error)
        for part, mode in self.modes:
            part.training = mode


def nucleus(logits: Tensor, top_p: float) -> Tensor:
    """Return True at the smallest set of tokens whose probability reaches top_p."""
    p, order = logits.softmax(-1).sort(dim=-1, descending=True, stable=True)
    short = p.cumsum(-1).roll(1, -1) < top_p
    short[:, 0] = True
    return torch.zeros_like(short).scatter(-1, order, short)


def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    if temperature == 0:
        return logits.max(-1).indices
    logits = logits.float()
    logits = (logits - logits.amax(-1, keepdim=True)) / temperature
    if top_k is not None and top_k < logits.size(-1):
        best = logits.topk(top_k)
        logits = torch.full_like(logits, float("-inf")).scatter(-1, best.indices, best.values)
    if top_p is not None and top_p < 1:
        logits = logits.where(nucleus(logits, top_p), float("-inf"))
    waits = torch.empty_like(logits).exponential_(generator=generator)
    return (logits - waits.clamp_min(torch.finfo(waits.dtype).tiny).log()).argmax(-1)


def extend(
    ids: Tensor, until: int, next_tokens: Callable[[Tensor, Tensor], Tensor], eos_idx: int | None, pad_idx: int
) -> Tensor:
    """Extend ids (B, T) to at most `until` columns; call next_tokens(rows, ids) only for rows that have not ended."""
    start = ids.size(1)
    result = torch.cat((ids, ids.new_full((ids.size(0), max(until - start, 0)), pad_idx)), dim=1)
    live = torch.arange(ids.size(0), device=ids.device)
    for column in range(start, until):
        if live.numel() == 0:
            return result[:, :column]
        tokens = next_tokens(live, result[live, :column])
        result[live, column] = tokens
        if eos_idx is not None:
            live = live[tokens != eos_idx]
    return result


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
    choose = partial(sample_next, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
    with Looking(model):
        return extend(
            prompt,
            prompt.size(1) + max_new_tokens,
            lambda _, ids: choose(model(ids[:, -window:])[:, -1]),
            eos_idx,
            pad_idx,
        )


def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    with Looking(model):
        src_mask = create_padding_mask(src, pad_idx)
        memory = model.encoder(src, src_mask)

        def next_words(rows: Tensor, ids: Tensor) -> Tensor:
            out = model.decoder(ids, memory[rows], src_mask[rows], create_target_mask(ids, pad_idx))
            return model.output_projection(out[:, -1:]).argmax(-1).squeeze(1)

        return extend(src.new_full((src.size(0), 1), sos_idx), max_len, next_words, eos_idx, pad_idx)


def beam_search(
    model: nn.Module,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    sos_idx: int = 1,
    eos_idx: int = 2,
) -> tuple[Tensor, float]:
    hypotheses: list[tuple[float, Tensor]] = []
    beam, totals = src.new_full((1, 1), sos_idx), torch.zeros(1, device=src.device)

    def set_aside(rows: Tensor, sums: Tensor) -> None:
        scale = ((5 + rows.size(1) - 1) / 6) ** length_penalty
        hypotheses.extend((total / scale, row) for total, row in zip(sums.tolist(), rows, strict=True))

    with Looking(model):
        src_mask = create_padding_mask(src)
        memory = model.encoder(src, src_mask)
        for _ in range(1, max_len):
            width = (beam.size(0), -1, -1)
            out = model.decoder(beam, memory.expand(width), src_mask, create_target_mask(beam))
            log_p = model.output_projection(out[:, -1]).float().log_softmax(-1)
            joint = totals[:, None] + log_p
            totals, flat = joint.flatten().topk(min(beam_size, joint.numel()))
            beam = torch.cat((beam[flat // joint.size(1)], (flat % joint.size(1))[:, None]), dim=1)
            over = beam[:, -1].eq(eos_idx)
            set_aside(beam[over], totals[over])
            beam, totals = beam[~over], totals[~over]
            if not len(beam):
                break
        set_aside(beam, totals)
    score, ids = max(hypotheses, key=lambda each: each[0])
    return ids, score
