from collections.abc import Sequence
from itertools import chain, takewhile

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    distinct = dict.fromkeys(chain(SPECIAL_TOKENS, *sentences))
    return {word: i for i, word in enumerate(distinct)}


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    ids = [vocab.get(token, vocab["<UNK>"]) for token in tokens]
    return [vocab["<SOS>"], *ids, vocab["<EOS>"]]


def decode(ids: Sequence[int], vocab: dict[str, int]) -> list[str]:
    word_of = {i: word for word, i in vocab.items()}
    words = takewhile(lambda word: word != "<EOS>", (word_of[int(i)] for i in ids))
    return [word for word in words if word not in ("<PAD>", "<SOS>")]


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | str | None = None) -> Tensor:
    longest = max(map(len, sequences), default=0)
    rows = [[*seq, *[pad_idx] * (longest - len(seq))] for seq in sequences]
    return torch.tensor(rows, dtype=torch.long, device=device).view(len(rows), longest)


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    return tgt[:, :-1], tgt[:, 1:]
