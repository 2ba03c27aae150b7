# Part 14: generation

from typing import Optional, Tuple

import torch
import torch.nn as nn
from ex04_masks import create_padding_mask, create_target_mask
from torch import Tensor


def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: Optional[int] = None,
    top_p: Optional[float] = None,
    generator: Optional[torch.Generator] = None,
) -> Tensor:
    # temperature 0 means: always the best token
    if temperature == 0:
        return torch.argmax(logits, dim=-1)
    logits = logits / temperature

    # sort the tokens, the best one comes first
    sorted_logits, sorted_ids = torch.sort(logits, dim=-1, descending=True)

    # keep only the first k tokens
    if top_k is not None:
        sorted_logits = sorted_logits[:, :top_k]
    probabilities = torch.softmax(sorted_logits, dim=-1)

    # keep only the tokens until the sum is p
    if top_p is not None and top_p < 1.0:
        cumulative = torch.cumsum(probabilities, dim=-1)
        remove = cumulative > top_p
        # at least one token must stay
        remove[:, 0] = False
        probabilities = probabilities.masked_fill(remove, 0.0)

    # multinomial does not need probabilities that add up to 1
    choice = torch.multinomial(probabilities, num_samples=1, generator=generator)  # (batch, 1)
    # from the place in the sorted list back to the id
    return torch.gather(sorted_ids, 1, choice).squeeze(1)


def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: Optional[int] = None,
    top_p: Optional[float] = None,
    eos_idx: Optional[int] = None,
    pad_idx: int = 0,
    generator: Optional[torch.Generator] = None,
) -> Tensor:
    # remember the mode, to go back to it at the end
    was_training = model.training
    model.eval()

    max_length = model.positional_encoding.pe.shape[1]
    ids = prompt
    # True for the rows that have an <EOS> already
    finished = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)

    with torch.no_grad():
        for _ in range(max_new_tokens):
            # the table of positions has only max_length rows
            logits = model(ids[:, -max_length:])
            next_ids = sample_next(logits[:, -1, :], temperature, top_k, top_p, generator)
            # finished rows get padding
            next_ids = next_ids.masked_fill(finished, pad_idx)
            ids = torch.cat([ids, next_ids.unsqueeze(1)], dim=1)
            if eos_idx is not None:
                finished = finished | (next_ids == eos_idx)
                if finished.all():
                    break

    model.train(was_training)
    return ids


def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    was_training = model.training
    model.eval()

    src_mask = create_padding_mask(src, pad_idx)
    # every row starts with <SOS>
    ids = torch.full((src.shape[0], 1), sos_idx, dtype=src.dtype, device=src.device)
    finished = torch.zeros(src.shape[0], dtype=torch.bool, device=src.device)

    with torch.no_grad():
        # the encoder is needed only once
        encoder_output = model.encoder(src, src_mask)
        while ids.shape[1] < max_len:
            tgt_mask = create_target_mask(ids, pad_idx)
            decoder_output = model.decoder(ids, encoder_output, src_mask, tgt_mask)
            logits = model.output_projection(decoder_output[:, -1, :])
            next_ids = torch.argmax(logits, dim=-1)
            next_ids = next_ids.masked_fill(finished, pad_idx)
            ids = torch.cat([ids, next_ids.unsqueeze(1)], dim=1)
            finished = finished | (next_ids == eos_idx)
            if finished.all():
                break

    model.train(was_training)
    return ids


def beam_search(
    model: nn.Module,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    sos_idx: int = 1,
    eos_idx: int = 2,
) -> Tuple[Tensor, float]:
    # TODO: only if there is time
    raise NotImplementedError("ex14: beam_search")
