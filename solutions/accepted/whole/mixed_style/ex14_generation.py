"""ex14: generation, token by token."""

import torch
from ex04_masks import create_padding_mask, create_target_mask
from torch import Tensor, nn

# ---------------------------------------------------------------------------
# Small helpers
# ---------------------------------------------------------------------------


def start_inference(model: nn.Module) -> list[bool]:
    """Put the model into eval mode. Return the mode that each of its modules had before."""
    old_modes = []
    for module in model.modules():
        old_modes.append(module.training)
    model.eval()
    return old_modes


def end_inference(model: nn.Module, old_modes: list[bool]) -> None:
    """Give each module its old mode back."""
    for module, old_mode in zip(model.modules(), old_modes):
        module.training = old_mode


def at_least_float32(logits: Tensor) -> Tensor:
    """Return the logits in a dtype with enough digits for sums of probabilities."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        return logits.to(torch.float32)
    return logits


def append_column(text: Tensor, column: Tensor) -> Tensor:
    """Append one token (B,) to each row of the text (B, T)."""
    new_column = column.unsqueeze(1)
    return torch.cat([text, new_column], dim=1)


# ---------------------------------------------------------------------------
# Choosing a token
# ---------------------------------------------------------------------------


def keep_nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """Set the probabilities outside the nucleus to 0. Each row must be sorted, the likeliest token first."""
    running_sum = probabilities.cumsum(dim=-1)

    # How much probability do the likelier tokens already have?
    sum_before = torch.zeros_like(running_sum)
    sum_before[:, 1:] = running_sum[:, :-1]

    # A token is needed as long as the tokens before it have not reached p.
    is_kept = sum_before < top_p
    is_kept[:, 0] = True
    return probabilities.masked_fill(~is_kept, 0.0)


def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw a token for each row of logits (B, V); return Long (B,)."""
    # Temperature 0: no randomness at all.
    if temperature == 0:
        likeliest = logits.argmax(dim=-1)
        return likeliest

    # Step 1: temperature. The largest logit becomes 0 first, so a small temperature does not overflow.
    scores = at_least_float32(logits)
    largest = scores.amax(dim=-1, keepdim=True)
    scores = (scores - largest) / temperature

    # Step 2: sort, the likeliest token first.
    sorted_scores, sorted_tokens = scores.sort(dim=-1, descending=True, stable=True)

    # Step 3: keep the first k columns. The softmax then shares all the probability among them.
    if top_k is not None:
        sorted_scores = sorted_scores[:, :top_k]
    probabilities = torch.softmax(sorted_scores, dim=-1)

    # Step 4: keep the nucleus. A p of 1 keeps everything.
    if top_p is not None and top_p < 1.0:
        probabilities = keep_nucleus(probabilities, top_p)

    # Step 5: draw a place in the sorted row. (The draw divides by the sum of the row itself.)
    place = torch.multinomial(probabilities, 1, generator=generator)

    # Step 6: which token is at this place?
    token = sorted_tokens.gather(-1, place)
    return token.squeeze(-1)


# ---------------------------------------------------------------------------
# The language model continues a text
# ---------------------------------------------------------------------------


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
    """Return the prompt (B, T) and the generated tokens: Long (B, at most T + max_new_tokens)."""
    window_size = model.positional_encoding.pe.size(1)
    text = prompt.clone()

    # Nobody has ended yet. An end token inside the prompt does not count.
    batch_size = prompt.size(0)
    ended = torch.zeros(batch_size, dtype=torch.bool, device=prompt.device)

    old_modes = start_inference(model)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            # The model sees the end of the text, and its last position predicts the next token.
            window = text[:, -window_size:]
            logits = model(window)
            last_logits = logits[:, -1]
            next_token = sample_next(last_logits, temperature, top_k, top_p, generator)

            # Rows that have ended before get padding.
            next_token = next_token.masked_fill(ended, pad_idx)
            text = append_column(text, next_token)

            # Which rows end with this token?
            if eos_idx is not None:
                ends_now = next_token == eos_idx
                ended = ended | ends_now
                if bool(ended.all()):
                    break
    end_inference(model, old_modes)

    return text


# ---------------------------------------------------------------------------
# The Transformer translates
# ---------------------------------------------------------------------------


def next_word_logits(model: nn.Module, text: Tensor, memory: Tensor, src_mask: Tensor, pad_idx: int) -> Tensor:
    """Return the logits (B, V) of the word after the text (B, T), for the encoder output `memory`."""
    tgt_mask = create_target_mask(text, pad_idx)
    decoded = model.decoder(text, memory, src_mask, tgt_mask)
    last_position = decoded[:, -1]
    return model.output_projection(last_position)


def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    """Translate src (B, S) greedily, word by word: Long (B, at most max_len), starting with sos_idx."""
    # Every row starts with <SOS>.
    batch_size = src.size(0)
    text = torch.full((batch_size, 1), sos_idx, dtype=torch.long, device=src.device)
    ended = torch.zeros(batch_size, dtype=torch.bool, device=src.device)

    old_modes = start_inference(model)
    with torch.no_grad():
        # The source is encoded once.
        src_mask = create_padding_mask(src, pad_idx)
        memory = model.encoder(src, src_mask)

        while text.size(1) < max_len:
            # The likeliest word, or padding where the row has ended.
            logits = next_word_logits(model, text, memory, src_mask, pad_idx)
            next_word = logits.argmax(dim=-1)
            next_word = next_word.masked_fill(ended, pad_idx)
            text = append_column(text, next_word)

            # Which rows end with this word?
            ends_now = next_word == eos_idx
            ended = ended | ends_now
            all_ended = bool(ended.all())
            if all_ended:
                break
    end_inference(model, old_modes)

    return text


# ---------------------------------------------------------------------------
# Beam search
# ---------------------------------------------------------------------------


def hypothesis_score(tokens: list[int], log_probability: float, length_penalty: float) -> float:
    """Return the log-probability divided by the length penalty. <SOS> does not count."""
    length = len(tokens) - 1
    penalty = ((5 + length) / 6) ** length_penalty
    return log_probability / penalty


def extend_all(
    model: nn.Module, live: list[tuple[list[int], float]], memory: Tensor, src_mask: Tensor
) -> list[tuple[list[int], float]]:
    """Extend each hypothesis by each word. A hypothesis is its tokens and its log-probability."""
    # All hypotheses go through the decoder as one batch, with the same encoder output.
    rows = []
    for tokens, _ in live:
        rows.append(tokens)
    text = torch.tensor(rows, dtype=torch.long, device=memory.device)
    repeated_memory = memory.expand(len(rows), -1, -1)
    repeated_mask = src_mask.expand(len(rows), -1, -1, -1)

    logits = next_word_logits(model, text, repeated_memory, repeated_mask, pad_idx=0)
    log_probabilities = torch.log_softmax(at_least_float32(logits), dim=-1).tolist()

    extensions = []
    for (tokens, old_sum), word_log_probabilities in zip(live, log_probabilities):
        for word, word_log_probability in enumerate(word_log_probabilities):
            longer = [*tokens, word]
            new_sum = old_sum + word_log_probability
            extensions.append((longer, new_sum))
    return extensions


def beam_search(
    model: nn.Module,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    sos_idx: int = 1,
    eos_idx: int = 2,
) -> tuple[Tensor, float]:
    """Return the best hypothesis for src (1, S), Long (L,) starting with sos_idx, and its score."""
    live = [([sos_idx], 0.0)]
    complete = []

    old_modes = start_inference(model)
    with torch.no_grad():
        src_mask = create_padding_mask(src)
        memory = model.encoder(src, src_mask)

        for _ in range(max_len - 1):
            # The best extensions of all live hypotheses.
            extensions = extend_all(model, live, memory, src_mask)
            extensions.sort(key=lambda extension: extension[1], reverse=True)
            best = extensions[:beam_size]

            # Those that end are put aside, the others go on.
            live = []
            for tokens, log_probability in best:
                if tokens[-1] == eos_idx:
                    complete.append((tokens, log_probability))
                else:
                    live.append((tokens, log_probability))
            if not live:
                break
    end_inference(model, old_modes)

    # What is still alive has reached max_len, so it is complete too.
    complete.extend(live)

    # The best score wins.
    best_tokens = complete[0][0]
    best_score = hypothesis_score(complete[0][0], complete[0][1], length_penalty)
    for tokens, log_probability in complete[1:]:
        score = hypothesis_score(tokens, log_probability, length_penalty)
        if score > best_score:
            best_tokens = tokens
            best_score = score

    best_ids = torch.tensor(best_tokens, dtype=torch.long, device=src.device)
    return best_ids, best_score
