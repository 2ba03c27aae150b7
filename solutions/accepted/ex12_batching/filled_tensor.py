# Write the rows into a tensor of padding. The vocabulary first collects the distinct words.
import itertools

import torch
from torch import Tensor

SPECIAL = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]
PAD, SOS, EOS, UNK = range(4)


def build_vocab(sentences):
    words = dict.fromkeys(itertools.chain.from_iterable(sentences))
    return dict(zip([*SPECIAL, *words], itertools.count()))


def encode(tokens, vocab):
    return [SOS] + [vocab.get(each, UNK) for each in tokens] + [EOS]


def decode(ids, vocab):
    words = list(vocab)
    return [words[i] for i in itertools.takewhile(lambda i: i != EOS, ids) if i not in (PAD, SOS)]


def pad_batch(sequences, pad_idx=0, device=None):
    batch = torch.full((len(sequences), max(map(len, sequences))), pad_idx, dtype=torch.int64, device=device)
    for row, sequence in zip(batch, sequences, strict=True):
        row[: len(sequence)] = torch.tensor(sequence, device=device)
    return batch


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    return tgt[:, :-1].contiguous(), tgt[:, 1:].contiguous()
