# Inverse sampling: look up a uniform number in the cumulative sum. Write results into a tensor of padding.
import torch
from ex04_masks import create_padding_mask, create_target_mask
from torch import nn


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0:
        return torch.topk(logits, 1).indices[:, 0]
    V = logits.size(-1)
    scores, order = torch.topk(logits / temperature, V if top_k is None else min(top_k, V), dim=-1)
    cumulative = torch.softmax(scores.double(), dim=-1).cumsum(dim=-1)
    cumulative = cumulative / cumulative[:, -1:]
    whole = torch.ones_like(cumulative[:, :1])
    if top_p is not None:
        # The kept tokens have the sum at the first index that reaches p.
        crossing = (cumulative < top_p).sum(dim=-1, keepdim=True).clamp_max(cumulative.size(1) - 1)
        whole = cumulative.gather(-1, crossing)
    point = torch.rand(len(logits), 1, generator=generator, device=logits.device, dtype=torch.float64) * whole
    place = torch.searchsorted(cumulative, point, right=True).clamp_max(cumulative.size(1) - 1)
    return order.gather(-1, place)[:, 0]


class Resting:
    """Switch to eval mode without gradients, then restore the mode."""

    def __init__(self, model: nn.Module):
        self.model = model

    def __enter__(self):
        self.training = self.model.training
        self.inference = torch.inference_mode()
        self.inference.__enter__()
        return self.model.eval()

    def __exit__(self, *error):
        self.model.train(self.training)
        self.inference.__exit__(*error)


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
    B, T = prompt.shape
    out = prompt.new_full((B, T + max_new_tokens), pad_idx)
    out[:, :T] = prompt
    running = list(range(B))
    end = T
    with Resting(model):
        limit = model.positional_encoding.pe.size(1)
        while end < out.size(1) and running:
            shown = out[running, max(0, end - limit) : end]
            tokens = sample_next(model(shown)[:, -1], temperature, top_k, top_p, generator)
            out[running, end] = tokens
            running = [row for row, token in zip(running, tokens.tolist(), strict=True) if token != eos_idx]
            end += 1
    return out[:, :end].clone()


def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    out = src.new_full((src.size(0), max_len), pad_idx)
    out[:, 0] = sos_idx
    with Resting(model):
        src_mask = create_padding_mask(src, pad_idx)
        memory = model.encoder(src, src_mask)
        running = torch.arange(src.size(0), device=src.device)
        end = 1
        # Only the rows that have not ended are decoded.
        while end < max_len and len(running):
            tgt = out[running, :end]
            decoded = model.decoder(tgt, memory[running], src_mask[running], create_target_mask(tgt, pad_idx))
            words = model.output_projection(decoded)[:, -1].argmax(-1)
            out[running, end] = words
            running = running[words != eos_idx]
            end += 1
    return out[:, :end].clone()


def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    with Resting(model):
        src_mask = create_padding_mask(src)
        memory = model.encoder(src, src_mask).expand(beam_size, -1, -1)
        ids = src.new_full((beam_size, 1), sos_idx)
        totals = torch.full((beam_size,), -torch.inf, device=src.device)
        totals[0] = 0.0  # all hypotheses start equal, so only one of them counts
        ended = torch.zeros_like(ids[:, 0], dtype=torch.bool)
        lengths = torch.zeros(beam_size, device=src.device)
        while ids.size(1) < max_len and not ended.all():
            decoded = model.decoder(ids, memory, src_mask.expand(beam_size, -1, -1, -1), create_target_mask(ids))
            steps = torch.log_softmax(model.output_projection(decoded[:, -1]).float(), dim=-1)
            stay = torch.full_like(steps, -torch.inf)
            stay[:, 0] = 0.0
            steps = torch.where(ended[:, None], stay, steps)
            totals, chosen = (totals[:, None] + steps).flatten().topk(beam_size)
            parents, words = chosen // steps.size(1), chosen % steps.size(1)
            lengths = lengths[parents] + (~ended[parents]).float()
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = ended[parents] | (words == eos_idx)
        scores = totals / ((5 + lengths) / 6) ** length_penalty
        best = int(scores.argmax())
        return ids[best, : int(lengths[best]) + 1].clone(), scores[best]
