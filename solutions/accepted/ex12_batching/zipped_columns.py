# Columns by zip_longest, transposed into rows; enumerate with an offset; index_select for the shift.
from itertools import chain, takewhile, zip_longest

import torch
from torch import Tensor


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    vocab = {"<PAD>": 0, "<SOS>": 1, "<EOS>": 2, "<UNK>": 3}
    seen = set(vocab)
    new = [word for word in chain(*sentences) if not (word in seen or seen.add(word))]
    vocab.update((word, i) for i, word in enumerate(new, start=4))
    return vocab


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    ids = [vocab.get(token) for token in tokens]
    ids = [3 if i is None else i for i in ids]
    ids.insert(0, 1)
    ids.append(2)
    return ids


def decode(ids, vocab: dict[str, int]) -> list[str]:
    words = {i: word for word, i in vocab.items() if word not in ("<PAD>", "<SOS>")}
    sentence = takewhile(lambda word: word != "<EOS>", map(words.get, ids))
    return [word for word in sentence if word is not None]


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | None = None) -> Tensor:
    columns = list(zip_longest(*sequences, fillvalue=pad_idx))
    return torch.tensor(columns, dtype=torch.long).T.to(device)


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(tgt.size(1), device=tgt.device)
    return tgt.index_select(1, places[:-1]), tgt.index_select(1, places[1:])
