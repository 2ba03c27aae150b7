# Generation, row by row, and a beam search over a list of hypotheses.

import ex04_masks
import torch
from ex10_transformer import missing_masks
from torch import Tensor, nn


def allowed_tokens(probabilities: Tensor, top_k: int | None, top_p: float | None) -> list[int]:
    """Return the tokens of one row that can be drawn, the likeliest first."""
    order = torch.argsort(probabilities, descending=True, stable=True).tolist()
    if top_k is not None:
        order = order[:top_k]
    if top_p is None or top_p >= 1.0:
        return order
    total = probabilities[order].sum().item()
    kept = []
    reached = 0.0
    for token in order:
        kept.append(token)
        reached += probabilities[token].item()
        if reached >= top_p * total:
            break
    return kept


def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    if temperature == 0:
        return torch.argmax(logits, dim=-1)
    drawn = []
    for row in logits:
        row = row.float()
        probabilities = torch.softmax((row - row.max()) / temperature, dim=-1)
        kept = allowed_tokens(probabilities, top_k, top_p)
        place = torch.multinomial(probabilities[kept], num_samples=1, generator=generator)
        drawn.append(kept[place.item()])
    return torch.tensor(drawn, dtype=torch.long, device=logits.device)


def append_tokens(ids: Tensor, tokens: Tensor, finished: list[bool], eos_idx: int | None, pad_idx: int) -> Tensor:
    """Append the tokens, or padding in ended rows, to the ids. Record rows that end now."""
    column = []
    for row, token in enumerate(tokens.tolist()):
        if finished[row]:
            column.append(pad_idx)
        else:
            column.append(token)
            if eos_idx is not None and token == eos_idx:
                finished[row] = True
    new = torch.tensor(column, dtype=ids.dtype, device=ids.device)
    return torch.cat([ids, new.unsqueeze(1)], dim=1)


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
    was_training = model.training
    model.eval()
    longest = model.positional_encoding.pe.size(1)
    ids = prompt.clone()
    finished = [False] * prompt.shape[0]
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if all(finished):
                break
            first = max(0, ids.shape[1] - longest)
            logits = model(ids[:, first:])
            tokens = sample_next(
                logits[:, -1, :], temperature=temperature, top_k=top_k, top_p=top_p, generator=generator
            )
            ids = append_tokens(ids, tokens, finished, eos_idx, pad_idx)
    model.train(was_training)
    return ids


def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    was_training = model.training
    model.eval()
    ids = torch.full((src.shape[0], 1), sos_idx, dtype=torch.long, device=src.device)
    finished = [False] * src.shape[0]
    with torch.no_grad():
        src_mask = ex04_masks.create_padding_mask(src, pad_idx)
        encoder_output = model.encoder(ids=src, mask=src_mask)
        while ids.shape[1] < max_len and not all(finished):
            tgt_mask = ex04_masks.create_target_mask(ids, pad_idx)
            decoder_output = model.decoder(ids=ids, encoder_output=encoder_output, src_mask=src_mask, tgt_mask=tgt_mask)
            logits = model.output_projection(decoder_output)
            tokens = sample_next(logits[:, -1, :], temperature=0.0)
            ids = append_tokens(ids, tokens, finished, eos_idx, pad_idx)
    model.train(was_training)
    return ids


def length_normalized(log_probability: float, ids: list[int], length_penalty: float) -> float:
    """Return the score of a hypothesis. Its length does not include the start token."""
    length = len(ids) - 1
    return log_probability / ((5 + length) / 6) ** length_penalty


def beam_search(
    model: nn.Module,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    sos_idx: int = 1,
    eos_idx: int = 2,
) -> tuple[Tensor, float]:
    was_training = model.training
    model.eval()
    pad_idx = getattr(model, "pad_idx", 0)
    beam = [([sos_idx], 0.0)]
    done = []
    with torch.no_grad():
        src_mask = ex04_masks.create_padding_mask(src, pad_idx)
        encoder_output = model.encoder(ids=src, mask=src_mask)
        for _ in range(max_len - 1):
            extensions = []
            for ids, log_probability in beam:
                tgt = torch.tensor([ids], dtype=torch.long, device=src.device)
                _, tgt_mask = missing_masks(src, tgt, pad_idx, src_mask=src_mask)
                decoder_output = model.decoder(
                    ids=tgt, encoder_output=encoder_output, src_mask=src_mask, tgt_mask=tgt_mask
                )
                logits = model.output_projection(decoder_output)[0, -1]
                for token, value in enumerate(torch.log_softmax(logits, dim=-1).tolist()):
                    extensions.append(([*ids, token], log_probability + value))
            extensions.sort(key=lambda extension: extension[1], reverse=True)
            beam = []
            for ids, log_probability in extensions[:beam_size]:
                if ids[-1] == eos_idx:
                    done.append((ids, log_probability))
                else:
                    beam.append((ids, log_probability))
            if not beam:
                break
    done.extend(beam)
    best_ids, best_score = None, None
    for ids, log_probability in done:
        score = length_normalized(log_probability, ids, length_penalty)
        if best_score is None or score > best_score:
            best_ids, best_score = ids, score
    model.train(was_training)
    return torch.tensor(best_ids, dtype=torch.long, device=src.device), best_score
