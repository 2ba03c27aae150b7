# Fill the batch in NumPy, find words by scanning the vocabulary, and shift with a rolled copy.
import numpy as np
import torch
from torch import Tensor


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    tokens = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]
    for sentence in sentences:
        tokens.extend(word for word in dict.fromkeys(sentence) if word not in tokens)
    return {token: tokens.index(token) for token in tokens}


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    known = [token if token in vocab else "<UNK>" for token in tokens]
    return [vocab[token] for token in ("<SOS>", *known, "<EOS>")]


def decode(ids, vocab: dict[str, int]) -> list[str]:
    tokens = sorted(vocab, key=vocab.__getitem__)
    words = [tokens[i] for i in ids]
    if "<EOS>" in words:
        del words[words.index("<EOS>") :]
    return [word for word in words if word not in {"<PAD>", "<SOS>"}]


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device=None) -> Tensor:
    rows = np.full((len(sequences), max(len(each) for each in sequences)), pad_idx, dtype=np.int64)
    for i, each in enumerate(sequences):
        rows[i, : len(each)] = each
    return torch.from_numpy(rows).to(device or "cpu")


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    return tgt[..., :-1].clone(), tgt.roll(-1, dims=1)[..., :-1].clone()
