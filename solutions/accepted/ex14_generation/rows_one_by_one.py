# Generate one row after the other and pad at the end. Sources are cut to their real tokens.
import torch
from ex04_masks import create_target_mask


def sample_row(logits, temperature, top_k, top_p, generator):
    if temperature == 0:
        return int(logits.argmax())
    probabilities = torch.softmax(logits / temperature, dim=-1)
    kept = sorted(range(len(logits)), key=probabilities.tolist().__getitem__, reverse=True)
    if top_k is not None:
        kept = kept[:top_k]
    shares = probabilities[kept] / probabilities[kept].sum()
    if top_p is not None:
        total, count = 0.0, 0
        for share in shares.tolist():
            total += share
            count += 1
            if total >= top_p:
                break
        kept, shares = kept[:count], shares[:count]
    return kept[int(torch.multinomial(shares, 1, generator=generator))]


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    drawn = [sample_row(row, temperature, top_k, top_p, generator) for row in logits]
    return torch.tensor(drawn, device=logits.device)


def side_by_side(rows, pad_idx, device):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [pad_idx] * (longest - len(row)) for row in rows], device=device)


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
    training = model.training
    model.eval()
    limit = model.positional_encoding.pe.size(1)
    texts = prompt.tolist()
    with torch.no_grad():
        for text in texts:
            for _ in range(max_new_tokens):
                shown = torch.tensor([text[-limit:]], device=prompt.device)
                text.append(sample_row(model(shown)[0, -1], temperature, top_k, top_p, generator))
                if text[-1] == eos_idx:
                    break
    if training:
        model.train()
    return side_by_side(texts, pad_idx, prompt.device)


def greedy_translate(model, src, max_len, sos_idx=1, eos_idx=2, pad_idx=0):
    training = model.training
    model.eval()
    texts = []
    with torch.no_grad():
        for row in src:
            source = row[row != pad_idx][None]  # a source without padding needs no mask
            memory = model.encoder(source)
            text = [sos_idx]
            while len(text) < max_len:
                tgt = torch.tensor([text], device=src.device)
                decoded = model.decoder(tgt, memory, tgt_mask=create_target_mask(tgt, pad_idx))
                text.append(int(model.output_projection(decoded[0, -1]).argmax()))
                if text[-1] == eos_idx:
                    break
            texts.append(text)
    if training:
        model.train()
    return side_by_side(texts, pad_idx, src.device)


def beam_search(model, src, beam_size, max_len, length_penalty=0.6, sos_idx=1, eos_idx=2):
    training = model.training
    model.eval()

    def score(total, length):
        return total / ((5 + length) / 6) ** length_penalty

    live, finished = [(0.0, [sos_idx])], []
    with torch.no_grad():
        memory = model.encoder(src)
        while live and len(live[0][1]) < max_len:
            candidates = []
            for total, ids in live:
                tgt = torch.tensor([ids], device=src.device)
                decoded = model.decoder(tgt, memory, None, create_target_mask(tgt))
                logarithms = model.output_projection(decoded[0, -1]).log_softmax(-1)
                best = logarithms.topk(min(beam_size, len(logarithms)))
                candidates += [(total + v, [*ids, i]) for v, i in zip(*map(torch.Tensor.tolist, best), strict=True)]
            candidates.sort(key=lambda each: -each[0])
            live = []
            for total, ids in candidates[: beam_size - min(len(finished), beam_size - 1)]:
                (finished if ids[-1] == eos_idx else live).append((total, ids))
            if len(finished) >= beam_size:
                break
    if training:
        model.train()
    scored = [(score(total, len(ids) - 1), ids) for total, ids in finished + live]
    best_score, ids = max(scored)
    return torch.tensor(ids, device=src.device), best_score
