"""Batches of sentences, with a vocabulary that assigns the next id itself."""

from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum

import torch
from torch import Tensor


class Special(IntEnum):
    PAD = 0
    SOS = 1
    EOS = 2
    UNK = 3

    @property
    def token(self) -> str:
        return f"<{self.name}>"


SPECIAL_TOKENS = tuple(special.token for special in Special)


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    vocab: defaultdict[str, int] = defaultdict(lambda: len(vocab))
    for word in (*SPECIAL_TOKENS, *(word for sentence in sentences for word in sentence)):
        vocab[word]
    return dict(vocab)


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    return [int(Special.SOS), *[vocab.get(token, int(Special.UNK)) for token in tokens], int(Special.EOS)]


def decode(ids: Sequence[int], vocab: dict[str, int]) -> list[str]:
    ids = torch.as_tensor(ids).tolist()
    if Special.EOS in ids:
        ids = ids[: ids.index(Special.EOS)]
    names = dict(zip(vocab.values(), vocab.keys(), strict=True))
    return [names[i] for i in ids if i not in (Special.PAD, Special.SOS)]


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | str | None = None) -> Tensor:
    lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.long)
    width = int(lengths.max()) if len(sequences) else 0
    batch = torch.full((len(sequences), width), pad_idx, dtype=torch.long)
    batch[torch.arange(width) < lengths[:, None]] = torch.tensor(
        [i for sequence in sequences for i in sequence], dtype=torch.long
    )
    return batch.to(device) if device is not None else batch


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    return tuple(tgt.unfold(1, tgt.size(1) - 1, 1).unbind(1))
