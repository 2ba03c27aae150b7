# Batches of sentences, with loops.

from collections.abc import Sequence

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    vocab = {}
    for token in SPECIAL_TOKENS:
        vocab[token] = len(vocab)
    for sentence in sentences:
        for word in sentence:
            if word not in vocab:
                vocab[word] = len(vocab)
    return vocab


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    ids = [vocab["<SOS>"]]
    for token in tokens:
        if token in vocab:
            ids.append(vocab[token])
        else:
            ids.append(vocab["<UNK>"])
    ids.append(vocab["<EOS>"])
    return ids


def decode(ids: Sequence[int], vocab: dict[str, int]) -> list[str]:
    word_of = {}
    for word, number in vocab.items():
        word_of[number] = word
    words = []
    for number in ids:
        word = word_of[int(number)]
        if word == "<EOS>":
            break
        if word in ("<PAD>", "<SOS>"):
            continue
        words.append(word)
    return words


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | str | None = None) -> Tensor:
    longest = 0
    for sequence in sequences:
        longest = max(longest, len(sequence))
    batch = torch.full((len(sequences), longest), pad_idx, dtype=torch.long, device=device)
    for row, sequence in enumerate(sequences):
        for column, number in enumerate(sequence):
            batch[row, column] = number
    return batch


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    length = tgt.shape[1]
    decoder_input = tgt[:, 0 : length - 1].clone()
    labels = tgt[:, 1:length].clone()
    return decoder_input, labels
