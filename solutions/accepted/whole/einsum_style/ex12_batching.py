"""Batches of sentences with itertools."""

from collections.abc import Sequence
from itertools import chain, takewhile, zip_longest

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    return {word: i for i, word in enumerate(dict.fromkeys(chain(SPECIAL_TOKENS, *sentences)))}


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    return [1, *(vocab.get(token, 3) for token in tokens), 2]


def decode(ids: Sequence[int], vocab: dict[str, int]) -> list[str]:
    words = {i: word for word, i in vocab.items()}
    return [words[i] for i in takewhile(lambda i: i != 2, map(int, ids)) if i not in (0, 1)]


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | str | None = None) -> Tensor:
    columns = list(zip_longest(*sequences, fillvalue=pad_idx))
    return torch.tensor(columns, dtype=torch.long, device=device).reshape(len(columns), len(sequences)).mT


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    return tgt[:, :-1], tgt[:, 1:]
